import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * What tells that a socket moves: it differs whenever anything was read or written, taken by the system, or
 * acknowledged by the other side. Megabytes can stand in the system's queue of a slow line, which nothing
 * but Linux tells about (proc_pid_net(5)).
 */
export function movement(socket: Socket): string {
  // What Node's own idle timer looks at, too: how much of a long write is not taken yet.
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  const queued = [socket.bytesRead, socket.bytesWritten, handle?.writeQueueSize ?? 0];
  return [...queued, unacknowledged(socket)].join(' ');
}

/** The columns of `tcp` and `tcp6` up to the send queue: number, local and remote address, state. */
const row = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/;

function unacknowledged({ localPort, remotePort, remoteFamily }: Socket): string {
  const table = `/proc/self/net/${remoteFamily === 'IPv6' ? 'tcp6' : 'tcp'}`;
  for (const line of lines(table)) {
    const [, local = '', remote = '', queue = ''] = row.exec(line) ?? [];
    const same = Number.parseInt(local, 16) === localPort;
    if (same && Number.parseInt(remote, 16) === remotePort) return queue;
  }
  return '';
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
