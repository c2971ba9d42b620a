import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/**
 * Returns a value that changes whenever data was read, written, accepted by the system, or acknowledged by the peer. On
 * a slow line, megabytes can be in the system's send queue, whose length only Linux reports (proc_pid_net(5)).
 */
export function socketProgress(socket: Socket): string {
  const acknowledged = sendQueues().get(connectionOf(socket)) ?? '';
  return [socket.bytesRead, socket.bytesWritten, untaken(socket), acknowledged].join(' ');
}

/** Bytes of the current write that the system has not accepted yet; Node's own idle timer uses it too. */
export function untaken(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}

export function connectionOf({ localPort, remotePort, remoteFamily }: Socket): string {
  return `${remoteFamily} ${localPort} ${remotePort}`;
}

/** Matches a row of `tcp` and `tcp6` up to the send queue: number, local and remote address, state. */
const row = /^\s*\d+: [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) [0-9A-F]{2} ([0-9A-F]{8}):/;

/** Bytes in the system's send queue that are not acknowledged, by connection; empty except on Linux. */
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
