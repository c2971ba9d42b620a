import { type ErrorCode, exitStatus } from '../../platform/errors';
import { MARKERS } from '../agent';
import { globalRows } from '../options';
import { wrap } from '../terminal/text-width';

/** Variable → what it does. */
const variables: Readonly<Record<string, string>> = {
  PWPUSH_URL: 'address of the instance, as --url',
  PWPUSH_TOKEN: 'API token for PWPUSH_URL if that is set, else for the address in use',
  PWPUSH_TOKEN_FILE: 'file with the API token, if PWPUSH_TOKEN is not set',
  PWPUSH_TOKEN_COMMAND: 'command that prints the API token, if neither is set; no shell, 10 s',
  PWPUSH_PROFILE: 'profile to use; PWPUSH_URL and PWPUSH_TOKEN take precedence',
  PWPUSH_PASSPHRASE: 'passphrase for get and run',
  PWPUSH_KEY: 'key or words of an encrypted push, for get and run',
  PWPUSH_CA_FILE: 'PEM file of additional CA certificates, as --ca-file',
  PWPUSH_EDITION: 'edition of the instance: oss, commercial or pwpush',
  PWPUSH_HEADERS_FILE: 'file of headers for an access proxy, one Name: value a line, mode 0600',
  PWPUSH_CERT_FILE: 'client certificate (PEM), as --cert',
  PWPUSH_CERT_KEY_FILE: 'its private key (PEM), as --cert-key',
  PWPUSH_TIMEOUT: 'seconds to wait for a response, as --timeout',
  PWPUSH_NO_INPUT: 'never prompt, as --no-input',
  PWPUSH_NOTIFY: '0: no desktop notification or bell when a wait ends',
  PWPUSH_DEBUG: 'log requests to stderr without secrets, as --debug',
  PWPUSH_CONFIG_DIR: 'folder of the profiles',
  PWPUSH_STATE_DIR: 'folder of rescue files and receipts',
  PWPUSH_DB_PASSWORD_FILE: 'file of the database password of serve',
  PWPUSH_INSTANCE_KEY_FILE: 'instance key of serve',
  'PWPUSH_SERVE_*': 'options of serve, such as PWPUSH_SERVE_PORT',
  HTTPS_PROXY: 'proxy for https addresses',
  HTTP_PROXY: 'proxy for http addresses',
  NO_PROXY: 'hosts reached without a proxy: names, suffixes, host:port, *; this machine always is',
  NODE_EXTRA_CA_CERTS: 'PEM file of CA certificates for all Node.js programs',
  CI: 'never prompt',
  NO_COLOR: 'no colors',
  FORCE_COLOR: 'colors even in a pipe; 0 for none',
  XDG_CONFIG_HOME: 'instead of ~/.config',
  XDG_STATE_HOME: 'instead of ~/.local/state',
  XDG_DATA_HOME: 'instead of ~/.local/share',
  XDG_CACHE_HOME: 'instead of ~/.cache',
  NODE_DISABLE_COMPILE_CACHE: 'do not store compiled code in ~/.cache/pwpush',
};

type Meaning = readonly [name: string, meaning: string];

/** @param width of the names, in columns */
const rows = (all: readonly Meaning[], width: number) =>
  all
    .flatMap(([name, meaning]) =>
      wrap(meaning, 77 - width).map((line, at) => `  ${(at ? '' : name).padEnd(width)}${line}`),
    )
    .join('\n');

const globalOptions: readonly Meaning[] = [
  ...Object.values(globalRows).map(({ option }) => [option.flags, option.description] as const),
  ['-h, --help', 'show help'],
  ['-V, --version', 'print the version'],
];

const options = `Global options

They stand before or after the command.

${rows(globalOptions, 22)}

Commands that send nothing accept only those about output; logout and profile
also --profile. An option takes precedence over its variable, in parentheses,
and over the profile: see pwpush help environment.

--account is for the commercial edition; pwpush accounts lists its accounts.
`;

const environment = `Environment

An option takes precedence over a variable, a variable over the profile in use,
and the profile over the defaults of the instance. A profile named by --profile
takes precedence over PWPUSH_URL and PWPUSH_TOKEN.

${rows(Object.entries(variables), 28)}

For a coding agent, nothing prompts, and no secret is printed unless --reveal is
given or the setting agent of the profile is allow. An agent is known by:
${wrap(MARKERS.join(', '), 80).join('\n')}

A switch is on unless it is empty, 0 or false. Proxy variables are also read in
lower case, which takes precedence.

A token is only ever sent to its own address: not to another one given by --url,
a link or a redirect. A full link to the instance of another profile uses the
token of that profile. pwpush doctor shows which address and token are in use
and where they come from.
`;

/** Says what an exit code means, and what to do next. */
export const meanings: Readonly<Record<ErrorCode, string>> = {
  failed: 'the instance failed or sent an unusable response, or something on this machine failed',
  usage:
    'invalid option or input, or no instance configured; nothing was sent, or what was received was saved to a file',
  unauthorized: 'a token is required, or was refused: log in',
  forbidden: 'the push belongs to another user',
  not_found: 'no such push, or no API v2 at that address',
  expired: 'the push has expired: ask for a new link',
  passphrase: 'a passphrase, or the key of an encrypted push, is required or was wrong',
  rejected: 'the instance refused the values, or granted looser limits than requested',
  unreachable: 'the request was never sent: retrying is safe',
  rate_limited: 'too many requests: try again later',
  unknown:
    'the request was sent, but no usable response came, or a failure (5xx): a push may exist, or a view may have been used; do not simply retry',
  timeout: 'the time limit of wait or request --wait ran out (--for)',
  hung_up: 'the terminal was closed (SIGHUP)',
  interrupted: 'interrupted, for example by Ctrl-C',
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

With --json an error has the name as "code":

  $ pwpush get abc123def456 --json
  {"error":{"code":"expired","message":"the push has expired", ...}}

pwpush run exits with the code of the command that it ran; 126 and 127, also of
push --into, mean that the command could not be started. pwpush doctor exits
with the code of the first check that failed. With several links or lines, the
worst code is returned.
`;

/** Its recipes are run by test/journey/recipes.slow.test.ts. */
const ci = `Secrets in CI jobs

pwpush never prompts where CI is set. Store the API token as a secret of the CI
system, and set PWPUSH_TOKEN only in the step that pushes, with the address of
the instance in PWPUSH_URL. Between jobs, pass the link, not the secret: if
someone else opens a link with one view first, the job fails and you know. A
job that only reads needs no token; --anonymous makes sure that it uses a view.

GitHub Actions, from one job to another. The runner drops an output that holds
a masked value, but passes a link. --github-env masks the secret first; bash
fails the step if the first command of a pipe fails.

  jobs:
    build:
      runs-on: ubuntu-latest
      outputs: { link: "\${{ steps.push.outputs.link }}" }
      steps:
        - uses: actions/checkout@v4
        - run: npm install --global pwpush@0
        - id: push
          shell: bash
          env:
            PWPUSH_URL: https://pwpush.example
            PWPUSH_TOKEN: \${{ secrets.PWPUSH_TOKEN }}
          run: |
            link=$(./make-token | pwpush push --views 1 --days 1)
            echo "link=$link" >> "$GITHUB_OUTPUT"
    deploy:
      needs: build
      runs-on: ubuntu-latest
      steps:
        - uses: actions/checkout@v4
        - run: npm install --global pwpush@0
        - shell: bash
          env: { LINK: "\${{ needs.build.outputs.link }}" }
          run: |
            pwpush get "$LINK" --anonymous --github-env DEPLOY_TOKEN
        - run: |
            ./deploy.sh

GitLab, from one job to another. Set PWPUSH_URL and PWPUSH_TOKEN as masked
variables of the project. Values of a dotenv report are not masked, so pass only
the link.

  default:
    image: node:22
    before_script:
      - npm install --global pwpush@0
  build:
    script:
      - link=$(./make-token | pwpush push --views 1 --days 1)
      - echo "LINK=$link" >> build.env
    artifacts: { reports: { dotenv: build.env } }
  deploy:
    needs: [build]
    script:
      - pwpush run "$LINK" --anonymous --as DEPLOY_TOKEN -- ./deploy.sh

Jenkins. The first two lines choose a shell that fails with its pipes and does
not print the commands.

  pipeline {
    agent any
    stages {
      stage('Build') {
        environment {
          PWPUSH_URL = 'https://pwpush.example'
          PWPUSH_TOKEN = credentials('pwpush-token')
        }
        steps {
          sh '''#!/bin/bash
            set -eo pipefail
            ./make-token | npx pwpush@0 push --views 1 > link
          '''
        }
      }
    }
  }

A Makefile. The link comes from the environment, and @ keeps the command out of
the log. A secret of NAME=value lines needs no --as; --only accepts no other
names than those.

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

Terraform, as an external data source. It reads the link at every plan, and the
secret ends up in the state: encrypt that, and push with enough views.

  data "external" "database" {
    program = ["bash", "-o", "pipefail", "-c",
      "pwpush get \\"$LINK\\" --json | jq '{payload}'"]
  }

Kubernetes, from a push of NAME=value lines without quotes. If the retrieval
fails, no secret is created.

  values=$(pwpush get "$LINK") &&
    printf '%s\\n' "$values" |
    kubectl create secret generic app --from-env-file=/dev/stdin

A recipient without pwpush. A service started with pwpush serve returns plain
text to curl: the secret to the byte, or links to files. A passphrase comes from
a file or, with @-, from standard input.

  curl -fsS -H 'Accept: text/plain' -d '' "$LINK"
  curl -fsS -H 'Accept: text/plain' --data-urlencode passphrase@- "$LINK"

Wait until the link was opened, and expire it after an hour at the latest.

  pwpush wait "$LINK" --for 1h --then-expire || pwpush expire "$LINK"

Onboarding, "send me your SSH key". The instance needs requests, as pwpush serve
has; the key that opens the answer stays with the job.

  link=$(pwpush request "Your SSH public key?" --name ann --expire 1w)
  ./send-link ann@example.com "$link"
  pwpush wait "$link"
  pwpush get "$link" --output ann.pub

A customer's certificate and its key, as files.

  link=$(pwpush request "Certificate and key?" --allow-files --expire 3d)
  ./send-link customer@example.com "$link"
  pwpush wait "$link"
  pwpush get "$link" --output customer/

Wait for a person, 15 minutes at most: a release that needs a one-time password.

  link=$(pwpush request "The one-time password?" --expire 1h)
  ./send-link releases@example.com "$link"
  pwpush wait "$link" --for 15m
  pwpush run "$link" --as OTP -- ./release.sh

Exit codes: 6 means ask for a new link, 9 that it is safe to run the job again,
11 that no usable response came, and the view may be gone.
See pwpush help exit-codes.
`;

const security = `Security

What pwpush does

  Arguments    No option takes a token or passphrase, because other users can
               see the arguments of a program. Pipe secrets in, or type them.
  Limits       Granted days and views are compared with what you asked for. If
               they are looser, the push is expired at once.
  Retries      A request that creates a push or uses a view is repeated only
               where the instance counts it once.
  Tokens       A token is sent to its own address only, and over plain http only
               to this machine. A redirect to another origin is an error.
  Headers      Those for an access proxy, and a client certificate, go to the
               instance's origin only, and appear in no output.
  Terminals    Control characters from a server are shown, not obeyed. A pipe
               gets the exact bytes.
  Variables    A secret cannot replace variables or set those that decide what
               programs load, run or trust. --allow NAME makes an exception;
               --only NAME accepts no other names.
  Losses       A secret or link that cannot be delivered is saved to a file that
               only you can read. pwpush doctor lists those files.
  Agents       For a coding agent, what would print a secret is refused.
  Logs         --debug shows no secret, passphrase, token or query string.

What it cannot do

  Operators    They can read the secret, unless you push it with --encrypt or
               --to, which leave them ciphertext. Otherwise use an instance
               that you trust, or run your own with pwpush serve.
    --encrypt        The key is in the link: anyone with the link can open it.
    --encrypt=words  The recipient also needs six words; send them another way.
    --to KEY         Only the owner of an age or SSH key can open it.
  Links        Anyone with the link can open it until it expires. Allow few
               views, and add a passphrase (--passphrase) that you send another
               way.
  Copies       A recipient can copy what they see. --retrieval-step keeps mail
               scanners that follow links from using a view.
  Programs     One that gets a secret from pwpush run can pass it on.
  Ports        While pwpush serve is down, another user of the machine can
               listen on its port and receive the token of the profile "local".

pwpush-security(7) lists every promise with its attack and its test.

Habits that help

  $ pwgen 24 1 | pwpush push --views 1 --days 1
  $ pwpush push --from id_ed25519 --passphrase
  $ pwpush push --encrypt --from id_ed25519
  $ pwpush audit abc123def456
  $ pwpush expire abc123def456
`;

/** The texts of `pwpush help <topic>`. */
export const texts = { options, environment, 'exit-codes': exitCodes, ci, security } as const;
