import { type ErrorCode, exitStatus } from '../errors';
import { wrap } from '../terminal/text-width';

/** Variable → what it does. */
const variables: Readonly<Record<string, string>> = {
  PWPUSH_URL: 'address of the instance, as --url',
  PWPUSH_TOKEN: 'API token; it belongs to PWPUSH_URL where that is set, else to the address in use',
  PWPUSH_TOKEN_FILE: 'file to read the token from, where PWPUSH_TOKEN is not set',
  PWPUSH_PROFILE: 'profile to use; PWPUSH_URL and PWPUSH_TOKEN outrank it',
  PWPUSH_PASSPHRASE: 'passphrase for get and run',
  PWPUSH_CA_FILE: 'PEM file of CA certificates to trust too, as --ca-file',
  PWPUSH_TIMEOUT: 'seconds to wait for an answer to begin, as --timeout',
  PWPUSH_NO_INPUT: 'never prompt, as --no-input',
  PWPUSH_DEBUG: 'log requests to stderr without secrets, as --debug',
  PWPUSH_CONFIG_DIR: 'folder of the profiles',
  PWPUSH_STATE_DIR: 'folder of rescue files',
  PWPUSH_INSTANCE_KEY_FILE: 'instance key of serve',
  'PWPUSH_SERVE_*': 'options of serve, such as PWPUSH_SERVE_PORT',
  HTTPS_PROXY: 'proxy for https addresses',
  HTTP_PROXY: 'proxy for http addresses',
  NO_PROXY: 'hosts reached without a proxy, as is this machine: names, suffixes, host:port, *',
  NODE_EXTRA_CA_CERTS: 'PEM file of CA certificates that Node.js trusts too',
  CI: 'never prompt',
  NO_COLOR: 'no colours',
  FORCE_COLOR: 'colours in a pipe too; 0 for none',
  XDG_CONFIG_HOME: 'in place of ~/.config',
  XDG_STATE_HOME: 'in place of ~/.local/state',
  XDG_DATA_HOME: 'in place of ~/.local/share',
  XDG_CACHE_HOME: 'in place of ~/.cache',
  NODE_DISABLE_COMPILE_CACHE: 'keep no compiled code in ~/.cache/pwpush',
};

const variableRows = Object.entries(variables).flatMap(([name, meaning]) =>
  wrap(meaning, 49).map((line, at) => `  ${(at === 0 ? name : '').padEnd(28)}${line}`),
);

const environment = `Environment

An option outranks a variable, a variable the profile in use, and that the
defaults of the instance. A profile named by --profile outranks PWPUSH_URL and
PWPUSH_TOKEN.

${variableRows.join('\n')}

Switches are on when set, and neither empty, 0 nor false. The names of the
proxy variables work in lower case too, and win.

A token is sent to its own address alone: not to that of --url, nor to that of
a link, nor along a redirect. pwpush doctor tells which address and token are
in use, and where they come from.
`;

/** What an exit code means, and what to do next. */
const meanings: Readonly<Record<ErrorCode, string>> = {
  failed: 'the instance failed or makes no sense, or something on this machine did',
  usage:
    'a bad option, bad input, or no instance; nothing was sent, or a text that fits nowhere was saved',
  unauthorized: 'a token is needed, or was refused: log in',
  forbidden: 'the push belongs to somebody else',
  not_found: 'there is no such push, or no API v2 at that address',
  expired: 'the push has expired: ask for a new link',
  passphrase: 'a passphrase is needed, or was wrong',
  rejected: 'the instance refused the values, or granted looser limits than asked',
  unreachable: 'the request never left and nothing happened: trying again is safe',
  rate_limited: 'the instance limits how often it is asked: try later',
  unknown:
    'the request left and no whole answer came: a push may exist, or a view may be gone; do not simply try again',
  timeout: 'the time limit of pwpush wait ran out',
  hung_up: 'the terminal went away (SIGHUP)',
  interrupted: 'interrupted, for example by Control-C',
  terminated: 'ended by SIGTERM',
};

const codeRows = (Object.entries(exitStatus) as [ErrorCode, number][]).flatMap(([code, status]) =>
  wrap(meanings[code], 58).map((line, at) =>
    at === 0
      ? `${String(status).padStart(4)}  ${code.padEnd(14)}${line}`
      : `${' '.repeat(20)}${line}`,
  ),
);

const exitCodes = `Exit codes

   0                success
${codeRows.join('\n')}

The name is "code" in an error that --json prints:

  $ pwpush get abc123def456 --json
  {"error":{"code":"expired","message":"the push has expired", ...}}

pwpush run ends with the exit code of the command it ran; 126 and 127 mean that
there was none to run. pwpush doctor ends with that of the first check that
failed. Of several links or lines, the worst code is the run's.
`;

/** Its recipes are run by test/journey/recipes.test.ts. */
const ci = `Secrets in CI jobs

Nothing prompts where CI is set. Keep the API token in a secret of the CI
system, as PWPUSH_TOKEN, and the address of the instance in PWPUSH_URL. Hand
on links, not secrets: a link for one view shows if somebody else used it first.
A job that only reads needs no token; --anonymous makes sure that a look takes
its view.

GitHub Actions, from one job to another. The runner drops an output that holds
a masked value, but passes on a link. --github-env masks the secret first.

  jobs:
    build:
      runs-on: ubuntu-latest
      outputs: { link: "\${{ steps.push.outputs.link }}" }
      steps:
        - id: push
          run: |
            link=$(./make-token | pwpush push --views 1 --days 1)
            echo "link=$link" >> "$GITHUB_OUTPUT"
    deploy:
      needs: build
      runs-on: ubuntu-latest
      steps:
        - env: { LINK: "\${{ needs.build.outputs.link }}" }
          run: |
            pwpush get "$LINK" --anonymous --github-env DEPLOY_TOKEN
        - run: |
            ./deploy.sh

GitLab, from one job to another. Values of a dotenv report are not masked, so
only the link is passed on.

  build:
    script:
      - link=$(./make-token | pwpush push --views 1 --days 1)
      - echo "LINK=$link" >> build.env
    artifacts: { reports: { dotenv: build.env } }
  deploy:
    needs: [build]
    script:
      - pwpush run "$LINK" --anonymous --as DEPLOY_TOKEN -- ./deploy.sh

A Makefile. The link comes from the environment, and @ keeps the line out of
the log; a push of NAME=value lines needs no --as, and --only takes just the
names that the job expects.

  deploy:
  	@pwpush run "$$LINK" --only DEPLOY_TOKEN -- ./deploy.sh

Ansible, to read a secret and to push one; no_log keeps both out of the output.

  - ansible.builtin.command:
      argv: [pwpush, get, --anonymous, "{{ link }}"]
    delegate_to: localhost
    register: secret
    no_log: true
  - ansible.builtin.command:
      argv: [pwpush, push, --views, "1"]
      stdin: "{{ password }}"
      stdin_add_newline: false
    delegate_to: localhost
    register: pushed
    no_log: true

Kubernetes, from a push of NAME=value lines without quotes.

  pwpush get "$LINK" |
    kubectl create secret generic app --from-env-file=/dev/stdin

Wait until it was picked up, and take it back after an hour at the latest.

  pwpush wait "$LINK" --timeout 3600 --then-expire || pwpush expire "$LINK"

The exit code says what to do next: 6 ask for a new link, 9 run the job again,
11 no answer came and the view may be gone. See pwpush(1).
`;

const security = `Security

What pwpush does

  Arguments    No option takes a token or passphrase: other users can read the
               arguments of a program. Pipe secrets in, or type them when asked.
  Limits       Days, views and the rest that the instance granted are compared
               with what was asked. Looser ones: the push is expired at once.
  Repeating    What creates a push or takes a view is never sent twice.
  Tokens       A token is sent to its own address alone, and not over plain http
               except to this machine. Redirects to another origin end the run.
  Terminals    Control characters from a server are made visible. In a pipe the
               bytes are exact.
  Variables    A secret does not set what programs load and run or whom they
               trust, nor replace a variable, unless you name it: --only takes
               just the names that you expect, --allow lets others through.
  Losses       A secret or link that cannot be written is saved to a file of
               mode 0600; pwpush doctor reports those that are left.
  Logs         --debug names no secret, passphrase, token or query string.

What it cannot do

  The instance sees the secret, unless you encrypt it before: it has the text
  and its own key. Choose one you trust, or be one with pwpush serve.
  Anyone with the link has the secret until it expires. Ask for few views, add a
  passphrase and send it another way; --passphrase asks for one.
  What was seen stays seen: a copy, a screenshot, a mail scanner that follows
  links. --retrieval-step keeps scanners from taking the view.
  A program that got a secret from pwpush run can pass it on.
  While pwpush serve is down, another user of the machine can listen on its port
  and be sent the token of profile local.

  pwpush-security(7) names attack, promise and test of all that.

Habits that help

  $ pwgen 24 1 | pwpush push --views 1 --days 1
  $ pwpush push --from id_ed25519 --passphrase
  $ pwpush audit abc123def456
  $ pwpush expire abc123def456
`;

/** What `pwpush help <topic>` prints. */
export const texts = { environment, 'exit-codes': exitCodes, ci, security } as const;
