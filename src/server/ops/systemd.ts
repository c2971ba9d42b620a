import { type ExecFileException, execFile } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { delimiter, isAbsolute } from 'node:path';
import { promisify } from 'node:util';
import { createQueue } from '../queues';
import { invalidInput } from '../service-errors';
import type { Supervision } from '../service-settings';
import type { Log } from './log';

/** The first passed descriptor (sd_listen_fds(3)). */
const FIRST_FD = 3;

/**
 * Returns the descriptors of listening sockets that systemd passed to this process.
 * @throws ServiceError when `LISTEN_FDS` is invalid
 */
export function passedSockets(supervision: Supervision | undefined): number[] {
  const { LISTEN_PID = '', LISTEN_FDS = '' } = supervision?.env ?? {};
  if (LISTEN_FDS === '' || LISTEN_PID !== `${supervision?.pid}`) return [];
  if (!/^[1-9]\d{0,2}$/.test(LISTEN_FDS))
    throw invalidInput('LISTEN_FDS is not a number of sockets');
  return Array.from({ length: Number(LISTEN_FDS) }, (_, index) => FIRST_FD + index);
}

/** Whether standard output or standard error is connected to the journal (`JOURNAL_STREAM`, systemd.exec(5)). */
export function writesToJournal(supervision: Supervision | undefined): boolean {
  const stream = supervision?.env.JOURNAL_STREAM;
  if (!stream) return false;
  return [1, 2].some((fd) => {
    const { dev, ino } = fstatSync(fd);
    return stream === `${dev}:${ino}`;
  });
}

const NOTIFY_TIMEOUT_MS = 5000;

const run = promisify(execFile);

/**
 * Returns a function that sends states such as `READY=1` to systemd (sd_notify(3)), one after the other; without
 * `NOTIFY_SOCKET` it does nothing. Runs `systemd-notify`, because Node.js has no Unix datagram sockets. The function
 * never rejects; failures are logged as warnings.
 */
export function notifier(
  supervision: Supervision | undefined,
  log: Log,
): (state: string) => Promise<void> {
  const { NOTIFY_SOCKET, PATH: path } = supervision?.env ?? {};
  // Not a program of the current folder.
  const PATH = path?.split(delimiter).filter(isAbsolute).join(delimiter);
  if (!NOTIFY_SOCKET) return async () => {};
  // `systemd-notify` gets neither the passed sockets nor settings, which may be secret.
  const options = { env: { NOTIFY_SOCKET, PATH }, timeout: NOTIFY_TIMEOUT_MS };
  const send = (state: string) =>
    run('systemd-notify', [state], options).then(
      () => {},
      ({ code, signal }: ExecFileException) =>
        log.warning(
          `systemd could not be notified of ${state} (systemd-notify: ${code ?? signal})`,
        ),
    );
  const queue = createQueue();
  return (state) => queue(() => send(state));
}
