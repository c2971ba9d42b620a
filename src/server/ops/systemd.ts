import { spawn } from 'node:child_process';
import { fstatSync } from 'node:fs';
import { ServiceError } from '../service-error';
import type { Supervision } from '../service-settings';
import type { Log } from './log';

/** The first one that is passed (sd_listen_fds(3)). */
const FIRST = 3;

/** The descriptors of listening sockets that were passed to this very process; none where systemd opened none. */
export function passedSockets({ env, pid }: Supervision): number[] {
  const { LISTEN_PID = '', LISTEN_FDS = '' } = env;
  if (LISTEN_FDS === '' || LISTEN_PID !== `${pid}`) return [];
  if (!/^[1-9]\d{0,2}$/.test(LISTEN_FDS))
    throw new ServiceError('LISTEN_FDS is no number of sockets', { input: true });
  return Array.from({ length: Number(LISTEN_FDS) }, (_, at) => FIRST + at);
}

/** Whether standard output or standard error goes to the journal (`JOURNAL_STREAM`, systemd.exec(5)). */
export function writesToJournal({ env }: Supervision): boolean {
  if (!env.JOURNAL_STREAM) return false;
  return [1, 2].some((fd) => {
    const { dev, ino } = fstatSync(fd);
    return env.JOURNAL_STREAM === `${dev}:${ino}`;
  });
}

/** Milliseconds. */
const NOTIFY_TIME = 5000;

/**
 * Tells systemd assignments such as `READY=1` (sd_notify(3)), one after the other; nobody where nobody asked for it.
 * Node.js has no datagram sockets of that kind, so that systemd's own program says it; where that cannot, the log
 * warns.
 */
export function notifier({ env }: Supervision, log: Log): (...states: string[]) => Promise<void> {
  const { NOTIFY_SOCKET, PATH } = env;
  if (!NOTIFY_SOCKET) return async () => {};
  const say = (states: string[]) =>
    new Promise<void>((resolve) => {
      const failed = (why: string | number | null) =>
        log.warning(`systemd could not be told ${states[0]} (systemd-notify: ${why})`);
      const child = spawn('systemd-notify', states, {
        // Not the sockets that were passed, nor settings, which may be secret.
        env: { NOTIFY_SOCKET, PATH },
        stdio: 'ignore',
        timeout: NOTIFY_TIME,
      });
      child.on('error', ({ code }: NodeJS.ErrnoException) => {
        failed(code ?? 'failed');
        resolve();
      });
      child.on('exit', (status, signal) => {
        if (status !== 0) failed(status ?? signal);
        resolve();
      });
    });
  let last = Promise.resolve();
  return (...states) => {
    last = last.then(() => say(states));
    return last;
  };
}
