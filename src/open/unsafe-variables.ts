import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';

/**
 * Variables that decide which code a program loads or runs, where it gets it from, or which hosts it trusts: of loaders,
 * shells, interpreters, build tools, pagers, editors, git, proxies and TLS. `*` matches any characters.
 *
 * The list cannot be complete: every program may have such variables of its own, and make reads all of them. It is the
 * second line of defence; the first are that nothing that is set is replaced, and `--only`.
 */
const always = globs(`
  PATH HOME SHELL ENV IFS CDPATH GLOBIGNORE ZDOTDIR SHELLOPTS BASHOPTS BASH_* FPATH PS0 PS1 PS2 PS3 PS4
  PROMPT PROMPT2 PROMPT3 PROMPT4 RPROMPT RPROMPT2 RPS1 RPS2 SPROMPT MAILPATH FCEDIT HISTFILE INPUTRC EXECIGNORE
  NULLCMD READNULLCMD POSTEDIT EDITOR VISUAL PAGER MANPAGER BROWSER *_EDITOR *_PAGER *_BROWSER *_ASKPASS *_COMMAND
  *_PASSCOMMAND *_CMD *_OPTS *_OPTIONS *_SHELL *_MIRROR *_LIBRARY *_HOME *_PRELOAD *_WRAPPER *_RSH *_PLUGINS
  *_PLUGIN_PATH *_PLUGIN_DIR *_LIBRARY_PATH *_MODULE_PATH *_PROXY *_CA_BUNDLE *_JAVA_OPTIONS
  LD_* DYLD_* COR_* CORECLR_* COMPLUS_* PWPUSH_* TMPDIR TMP TEMP TERMINFO TERMINFO_DIRS TERMCAP GCONV_PATH
  GLIBC_TUNABLES LOCPATH NLSPATH TEXTDOMAINDIR HOSTALIASES LOCALDOMAIN RES_OPTIONS SSLKEYLOGFILE SSH_SK_PROVIDER
  CC CXX CPP FC LD AR AS NM RANLIB CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
  LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX MAKE MAKEFLAGS GNUMAKEFLAGS MAKEFILES MAKESHELL MAKEOVERRIDES
  VIM VIMINIT VIMRUNTIME GVIMINIT EXINIT MYVIMRC EMACSLOADPATH MANOPT MANROFFOPT GREP_OPTIONS AWKPATH AWKLIBPATH
  TAR_OPTIONS TAPE UNZIP UNZIPOPT ZIP ZIPOPT XZ_OPT XZ_DEFAULTS PARALLEL WGETRC SYSTEM_WGETRC NETRC ACKRC
  RIPGREP_CONFIG_PATH SCREENRC TMUX DEBUGINFOD_URLS GS_LIB GS_FONTPATH TCLLIBPATH
  AUTOCONF AUTOHEADER AUTOMAKE AUTOM4TE AUTOPOINT AUTORECONF ACLOCAL* LIBTOOL* GTKDOCIZE M4 M4PATH YACC LEX RAKEOPT
  PREBUILDEVENT POSTBUILDEVENT CUSTOMBEFORE* CUSTOMAFTER* DIRECTORYBUILD* CYPRESS_INSTALL_* CYPRESS_RUN_*
  CYPRESS_CACHE_FOLDER PUB_HOSTED_URL PUB_CACHE N_PREFIX VK_ICD_* VK_LAYER_* VK_DRIVER_* VK_ADD_* OCL_ICD_* LIBGL_*
  SPRING_APPLICATION_JSON LOADER_PATH FI_PROVIDER_PATH
  CLASSPATH JVM_OPTS PHPRC PHP_INI_SCAN_DIR GEM_PATH GEMRC GHCRTS OCAMLRUNPARAM CAMLRUNPARAM
  ASPNETCORE_HOSTINGSTARTUPASSEMBLIES GUNICORN_CMD_ARGS SVN_SSH HGRCPATH HGEDITOR HGMERGE CVSEDITOR CVSROOT
  P4CONFIG P4EDITOR P4DIFF P4MERGE P4PAGER GNUPGHOME KRB5_CONFIG KRB5CCNAME GSS_MECH_CONFIG SASL_PATH
  SASL_CONF_PATH LDAPCONF LDAPRC LDAPTLS_* ODBCINI ODBCSYSINI ODBCINSTINI TNS_ADMIN LIBMYSQL_PLUGINS
  MYSQL_TEST_LOGIN_FILE PSQLRC PSQL_HISTORY PGSERVICEFILE PGSYSCONFDIR PGPASSFILE PGSSLKEY PGSSLROOTCERT
  KUBECONFIG KUBECTL_EXTERNAL_DIFF REGISTRY_AUTH_FILE CONTAINER_HOST AWS_CONFIG_FILE AWS_DATA_PATH
  AWS_SHARED_CREDENTIALS_FILE AZURE_CONFIG_DIR AZURE_EXTENSION_DIR BOTO_CONFIG BOTO_PATH OCI_CLI_CONFIG_FILE
  GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CREDENTIALS GOOGLE_CLOUD_KEYFILE_JSON GOOGLE_API_CERTIFICATE_CONFIG
  GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES
  GH_CONFIG_DIR GH_PATH GLAB_CONFIG_DIR VAULT_CACERT VAULT_CAPATH VAULT_CONFIG_PATH VAULT_SKIP_VERIFY
  SOPS_GPG_EXEC TF_LOG* TF_DATA_DIR TF_PLUGIN_* TF_REATTACH_PROVIDERS APT_CONFIG
  COMSPEC PATHEXT PSMODULEPATH SYSTEMROOT SYSTEMDRIVE WINDIR USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA
  PROGRAMFILES* HOMEDRIVE HOMEPATH`);

/** Prefixes of further programs' variables, except for `credentials`. */
const families = globs(`
  GIT_* XDG_* SSH_* SSL_* OPENSSL_* P11_KIT_* PKCS11_* GNUTLS_* DBUS_* GIO_* GTK_* GST_* QT_* SYSTEMD_*
  NODE_* NPM_CONFIG_* YARN_* PNPM_* COREPACK_* BUN_* DENO_* ELECTRON_* PUPPETEER_* PLAYWRIGHT_* VOLTA_* NVM_*
  PYTHON* PIP_* PIPX_* PIPENV_* UV_* PDM_* POETRY_* PYTEST_* TOX_* COVERAGE_* VIRTUALENV_* CONDA_* PYENV_* IPYTHON*
  JUPYTER_* PERL* RUBY* BUNDLE_* RBENV_* LUA_* R_* COMPOSER_* CARGO_* RUST* GO* JAVA_* _JAVA_* JDK_* MAVEN_* GRADLE_*
  ANT_* SBT_* LEIN_* CATALINA_* SPRING_CONFIG_* DOTNET_* NUGET_* MSBUILD* ERL_* ELIXIR_* MIX_* HEX_* REBAR_* CABAL_*
  STACK_* OPAM* CMAKE_* CCACHE_* SCCACHE_* DISTCC_* PKG_CONFIG* LESS* FZF_* BAT_* FISH_* STARSHIP_* DIRENV_* NVIM_*
  RSYNC_* SVN_* PASSWORD_STORE_* DOCKER_* BUILDKIT_* BUILDX_* COMPOSE_* PODMAN_* CONTAINERS_* VAGRANT_* PACKER_*
  TF_CLI_* TERRAGRUNT_* PULUMI_* ANSIBLE_* HELM_* CLOUDSDK_* HOMEBREW_* NIX_* ASDF_* MISE_* DEBCONF_* QEMU_* WINE*
  USE_BAZEL_* BAZEL* MVNW_* TFENV_* TOFUENV_* FLUTTER_* GROFF_* VALGRIND_* TMUX_* LIBVIRT_* VIRSH_* RCLONE_* UWSGI_*
  OMPI_* OPAL_* PMIX_* PRTE_* HYDRA_* I_MPI_* MPICH_* UCX_* CUDA_* NCCL_*`);

/**
 * Credentials and plain data among these: `NODE_AUTH_TOKEN`, `DOCKER_PASSWORD`, `RUBYGEMS_API_KEY`. Not every `_KEY`:
 * `GIT_SSL_KEY` is a path, or a key of an engine.
 */
const credentials = globs(`
  *_TOKEN *_PASSWORD *_PASS *_PASSPHRASE *_SECRET *_USERNAME *_AUTH *_API_KEY *_ACCESS_KEY *_ACCESS_KEY_ID
  *_SECRET_KEY *_PRIVATE_KEY *_DEPLOY_KEY *_SSH_KEY SSH_KEY SSH_HOST SSH_PORT SSH_USER POETRY_PYPI_TOKEN_*
  GIT_AUTHOR_* GIT_COMMITTER_* GOOGLE_* GO_ENV NODE_ENV PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_LOG RUST_BACKTRACE`);

/** Settings and certificates that the user may name with `--file`: the path is ours, and the content was asked for. */
const settings = globs(`
  KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE GOOGLE_APPLICATION_CREDENTIALS REGISTRY_AUTH_FILE
  PGPASSFILE PGSERVICEFILE PGSSLROOTCERT PGSSLKEY SSL_CERT_FILE NODE_EXTRA_CA_CERTS *_CA_BUNDLE VAULT_CACERT NETRC`);

type Matcher = (upper: string) => boolean;

function globs(text: string): Matcher {
  const words = text.trim().split(/\s+/);
  const names = new Set(words);
  const prefixes = words.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1));
  const suffixes = words.filter((one) => one.startsWith('*')).map((one) => one.slice(1));
  // A text may have a million names, and one expression is several times faster than a loop over the list.
  const beginning = new RegExp(`^(?:${prefixes.join('|') || '(?!)'})`);
  return (upper) =>
    names.has(upper) || beginning.test(upper) || suffixes.some((one) => upper.endsWith(one));
}

/** Whether someone else's secret may set it only if the user allows it. Ignores case, as Windows does. */
export function isUnsafe(name: string): boolean {
  const upper = name.toUpperCase();
  return always(upper) || (families(upper) && !credentials(upper));
}

/** The same for a variable that the user named for the path of a file. */
export function isUnsafeForFile(name: string): boolean {
  return isUnsafe(name) && !settings(name.toUpperCase());
}

/** Which variables of a text the user allows. */
export interface NameRules {
  /** Names that may be set although they are unsafe. */
  readonly allow: readonly string[];
  /** The names that are taken; all when empty. */
  readonly only: readonly string[];
}

type Surroundings = Pick<Context, 'env' | 'platform'>;

/**
 * The variables of a text that the rules select. Names in `only` or `allow` may replace a variable that is set; any other
 * may not, unless the value is the same.
 * @param which what the error calls the text
 * @throws CliError (usage) that names the refused variables
 */
export function permitted(
  variables: ReadonlyMap<string, string>,
  { allow, only }: NameRules,
  context: Surroundings,
  which: string,
): ReadonlyMap<string, string> {
  const selected = [...variables].filter(([name]) => only.length === 0 || only.includes(name));
  const unlisted = selected.filter(([name]) => !allow.includes(name));
  const unsafe = unlisted.map(([name]) => name).filter(isUnsafe);
  const refused = new Set(unsafe);
  const harmless = unlisted.filter(([name]) => !refused.has(name));
  const replaced = only.length === 0 ? replacedIn(harmless, context) : [];
  const why = [
    ...(unsafe.length > 0
      ? [`${unsafe.join(', ')}, which would change what is loaded and run`]
      : []),
    ...(replaced.length > 0
      ? [`${replaced.join(', ')}, already set to another value in the environment`]
      : []),
  ];
  if (why.length > 0)
    throw usageError(
      `${which} sets ${why.join('; and ')}`,
      `if you trust the sender, next time use --allow ${[...unsafe, ...replaced].join(',')}` +
        (only.length > 0 ? '' : '; or accept only the names you expect with --only NAME,…'),
    );
  return new Map(selected);
}

/** The names that have another value in the environment; Windows ignores their case. */
function replacedIn(
  variables: readonly (readonly [string, string])[],
  { env, platform }: Surroundings,
): string[] {
  const key = (name: string) => (platform === 'win32' ? name.toUpperCase() : name);
  const there = new Map(Object.entries(env).map(([name, value]) => [key(name), value]));
  return variables
    .filter(([name, value]) => (there.get(key(name)) ?? value) !== value)
    .map(([name]) => name);
}

/** @throws CliError (usage) for names of `--only` that are not among those found */
export function checkFound(only: readonly string[], found: readonly string[], what: string): void {
  const there = new Set(found);
  const missing = only.filter((name) => !there.has(name));
  if (missing.length > 0)
    throw usageError(`${what} no line ${missing.map((name) => `${name}=…`).join(' or ')}`);
}
