import { type ErrorCode, exitStatus } from '../errors';
import { wrap } from '../terminal/text-width';

/** When a run ends so, and what to do next. */
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
  interrupted: 'interrupted, by Control-C for one',
  terminated: 'ended by SIGTERM',
};

const rows = (Object.entries(exitStatus) as [ErrorCode, number][]).flatMap(([code, status]) =>
  wrap(meanings[code], 58).map((line, at) =>
    at === 0
      ? `${String(status).padStart(4)}  ${code.padEnd(14)}${line}`
      : `${' '.repeat(20)}${line}`,
  ),
);

/** `pwpush help exit-codes`. */
export const text = `Exit codes

   0                success
${rows.join('\n')}

The name is "code" in an error that --json prints:

  $ pwpush get abc123def456 --json
  {"error":{"code":"expired","message":"the push has expired", ...}}

pwpush run ends with the exit code of the command it ran; 126 and 127 mean that
there was none to run. pwpush doctor ends with that of the first check that
failed. Of several links or lines, the worst code is the run's.
`;
