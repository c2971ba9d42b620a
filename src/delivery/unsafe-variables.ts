import type { Context } from '../context';
import { usageError } from '../errors';

/**
 * Variables that decide which code a program loads or runs, where it gets it from, or whom it trusts: of loaders,
 * shells, interpreters, build tools, pagers, editors, git, proxies and TLS. `*` stands for any characters.
 *
 * A list cannot be complete: every program may have such variables of its own, and make takes each for one. It is
 * the second line; the first are what is set already, and `--only`.
 */
const always = globs(`
  PATH HOME SHELL ENV IFS CDPATH GLOBIGNORE ZDOTDIR SHELLOPTS BASHOPTS BASH_* FPATH PS0 PS1 PS2 PS3 PS4
  PROMPT PROMPT2 PROMPT3 PROMPT4 RPROMPT RPROMPT2 RPS1 RPS2 SPROMPT MAILPATH FCEDIT HISTFILE INPUTRC EXECIGNORE
  NULLCMD READNULLCMD POSTEDIT EDITOR VISUAL PAGER MANPAGER BROWSER *_EDITOR *_PAGER *_BROWSER *_ASKPASS *_COMMAND
  *_PASSCOMMAND *_CMD *_OPTS *_HOME *_PRELOAD *_WRAPPER *_RSH *_PLUGINS *_PLUGIN_PATH *_PLUGIN_DIR *_LIBRARY_PATH
  *_MODULE_PATH *_PROXY *_CA_BUNDLE *_JAVA_OPTIONS
  LD_* DYLD_* COR_* CORECLR_* COMPLUS_* PWPUSH_* TMPDIR TMP TEMP TERMINFO TERMINFO_DIRS TERMCAP GCONV_PATH
  GLIBC_TUNABLES LOCPATH NLSPATH TEXTDOMAINDIR HOSTALIASES LOCALDOMAIN RES_OPTIONS SSLKEYLOGFILE SSH_SK_PROVIDER
  CC CXX CPP FC LD AR AS NM RANLIB CFLAGS CXXFLAGS CPPFLAGS LDFLAGS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH
  LIBRARY_PATH COMPILER_PATH GCC_EXEC_PREFIX MAKE MAKEFLAGS GNUMAKEFLAGS MAKEFILES MAKESHELL MAKEOVERRIDES
  VIM VIMINIT VIMRUNTIME GVIMINIT EXINIT MYVIMRC EMACSLOADPATH MANOPT MANROFFOPT GREP_OPTIONS AWKPATH AWKLIBPATH
  TAR_OPTIONS TAPE UNZIP UNZIPOPT ZIP ZIPOPT XZ_OPT XZ_DEFAULTS PARALLEL WGETRC SYSTEM_WGETRC NETRC ACKRC
  RIPGREP_CONFIG_PATH SCREENRC DEBUGINFOD_URLS
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

/** The rest of the families that programs look at; `credentials` are taken out of these. */
const families = globs(`
  GIT_* XDG_* SSH_* SSL_* OPENSSL_* P11_KIT_* PKCS11_* GNUTLS_* DBUS_* GIO_* GTK_* GST_* QT_* SYSTEMD_*
  NODE_* NPM_CONFIG_* YARN_* PNPM_* COREPACK_* BUN_* DENO_* ELECTRON_* PUPPETEER_* PLAYWRIGHT_* VOLTA_* NVM_*
  PYTHON* PIP_* PIPX_* PIPENV_* UV_* PDM_* POETRY_* PYTEST_* TOX_* COVERAGE_* VIRTUALENV_* CONDA_* PYENV_* IPYTHON*
  JUPYTER_* PERL* RUBY* BUNDLE_* RBENV_* LUA_* R_* COMPOSER_* CARGO_* RUST* GO* JAVA_* _JAVA_* JDK_* MAVEN_* GRADLE_*
  ANT_* SBT_* LEIN_* CATALINA_* SPRING_CONFIG_* DOTNET_* NUGET_* MSBUILD* ERL_* ELIXIR_* MIX_* HEX_* REBAR_* CABAL_*
  STACK_* OPAM* CMAKE_* CCACHE_* SCCACHE_* DISTCC_* PKG_CONFIG* LESS* FZF_* BAT_* FISH_* STARSHIP_* DIRENV_* NVIM_*
  RSYNC_* SVN_* PASSWORD_STORE_* DOCKER_* BUILDKIT_* BUILDX_* COMPOSE_* PODMAN_* CONTAINERS_* VAGRANT_* PACKER_*
  TF_CLI_* TERRAGRUNT_* PULUMI_* ANSIBLE_* HELM_* CLOUDSDK_* HOMEBREW_* NIX_* ASDF_* MISE_* DEBCONF_* QEMU_* WINE*`);

/**
 * What of these families is a credential or plain data, and means nothing to a loader: `NODE_AUTH_TOKEN`,
 * `DOCKER_PASSWORD`, `RUBYGEMS_API_KEY`. Not every `_KEY`: `GIT_SSL_KEY` is a path, or a key of an engine.
 */
const credentials = globs(`
  *_TOKEN *_PASSWORD *_PASSPHRASE *_SECRET *_USERNAME *_AUTH *_API_KEY *_ACCESS_KEY *_SECRET_KEY *_PRIVATE_KEY
  *_DEPLOY_KEY *_SSH_KEY SSH_KEY SSH_HOST SSH_PORT SSH_USER POETRY_PYPI_TOKEN_* GIT_AUTHOR_* GIT_COMMITTER_* GOOGLE_*
  GO_ENV NODE_ENV PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE RUST_LOG RUST_BACKTRACE`);

/** Settings and certificates that are asked for by name with `--file`: their path is ours, their content what was wanted. */
const settings = globs(`
  KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE GOOGLE_APPLICATION_CREDENTIALS REGISTRY_AUTH_FILE
  PGPASSFILE PGSERVICEFILE PGSSLROOTCERT PGSSLKEY SSL_CERT_FILE NODE_EXTRA_CA_CERTS *_CA_BUNDLE VAULT_CACERT NETRC`);

type Matcher = (upper: string) => boolean;

function globs(text: string): Matcher {
  const words = text.trim().split(/\s+/);
  const names = new Set(words);
  const prefixes = words.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1));
  const suffixes = words.filter((one) => one.startsWith('*')).map((one) => one.slice(1));
  // A text may have a million names: an expression is several times faster than a search of the list.
  const beginning = new RegExp(`^(?:${prefixes.join('|') || '(?!)'})`);
  return (upper) =>
    names.has(upper) || beginning.test(upper) || suffixes.some((one) => upper.endsWith(one));
}

/** Whether a secret of somebody else may not set it unasked. In any case, since Windows knows no other. */
export function isDangerous(name: string): boolean {
  const upper = name.toUpperCase();
  return always(upper) || (families(upper) && !credentials(upper));
}

/** The same where it holds the path of a file that was asked for by that name. */
export function isDangerousForFile(name: string): boolean {
  return isDangerous(name) && !settings(name.toUpperCase());
}

/** What the user says about the names in a text of variables. */
export interface NameRules {
  /** Names that may be set although they would be refused. */
  readonly allow: readonly string[];
  /** The names that are taken; all when empty. */
  readonly only: readonly string[];
}

/** Where the variables are to be set. */
export interface Setting {
  readonly context: Pick<Context, 'env' | 'platform'>;
  /** Whether a name is refused unless it is allowed. */
  readonly refuses: (name: string) => boolean;
  /** What such a variable does. */
  readonly effect: string;
}

/**
 * The variables of a text that are wanted. A name in `only` or `allow` is the user's own choice, and may replace what is
 * set; any other may not, unless the value is the same.
 * @param which text it is, for the error
 * @throws CliError (usage) that names the variables that are refused
 */
export function permitted(
  variables: ReadonlyMap<string, string>,
  { allow, only }: NameRules,
  { context, refuses, effect }: Setting,
  which: string,
): ReadonlyMap<string, string> {
  const taken = [...variables].filter(([name]) => only.length === 0 || only.includes(name));
  const asked = taken.filter(([name]) => !allow.includes(name));
  const dangerous = asked.map(([name]) => name).filter(refuses);
  const refused = new Set(dangerous);
  const harmless = asked.filter(([name]) => !refused.has(name));
  const replaced = only.length === 0 ? replacedIn(harmless, context) : [];
  const why = [
    ...(dangerous.length > 0 ? [`${dangerous.join(', ')}, which ${effect}`] : []),
    ...(replaced.length > 0
      ? [`${replaced.join(', ')}, set to something else in the environment`]
      : []),
  ];
  if (why.length > 0)
    throw usageError(
      `${which} sets ${why.join('; and ')}`,
      `with trust in whoever sent it, another time: --allow ${[...dangerous, ...replaced].join(',')}` +
        (only.length > 0 ? '' : '; or take only the names you expect: --only NAME,…'),
    );
  return new Map(taken);
}

/** The names that have another value in the environment; Windows ignores their case. */
function replacedIn(
  variables: readonly (readonly [string, string])[],
  { env, platform }: Setting['context'],
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
  if (missing.length > 0) throw usageError(`${what} no ${missing.join(' and no ')}`);
}
