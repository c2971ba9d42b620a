import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * What tells that a socket moves: it differs whenever anything was read or written, taken by the system, or
 * acknowledged by the other side. Megabytes can stand in the system's queue of a slow line, which nothing
 * but Linux tells about (proc_pid_net(5)).
 */
export function movement(socket: Socket): string {
  const acknowledged = sendQueues().get(connectionOf(socket)) ?? '';
  return [socket.bytesRead, socket.bytesWritten, untaken(socket), acknowledged].join(' ');
}

/** Bytes of the write under way that the system has not taken yet; what Node's own idle timer looks at, too. */
export function untaken(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}

/** A socket's connection in `sendQueues`. */
export function connectionOf({ localPort, remotePort, remoteFamily }: Socket): string {
  return `${remoteFamily} ${localPort} ${remotePort}`;
}

/** The columns of `tcp` and `tcp6` up to the send queue: number, local and remote address, state. */
const row = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/;

/** Bytes that the system has sent or will send and nobody has acknowledged, by connection; none but on Linux. */
export function sendQueues(): Map<string, number> {
  const queues = new Map<string, number>();
  for (const [family, table] of [
    ['IPv4', 'tcp'],
    ['IPv6', 'tcp6'],
  ]) {
    for (const line of lines(`/proc/self/net/${table}`)) {
      const [, local = '', remote = '', queue = ''] = row.exec(line) ?? [];
      const ports = [local, remote].map((port) => Number.parseInt(port, 16));
      if (queue !== '') queues.set([family, ...ports].join(' '), Number.parseInt(queue, 16));
    }
  }
  return queues;
}

function lines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}
