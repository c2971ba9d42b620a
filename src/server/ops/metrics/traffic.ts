import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Family, reading } from './exposition';

/** What goes over the connections of these servers, from now on. */
export function trafficOf(servers: readonly Server[]): Family[] {
  const open = new Set<Socket>();
  let inFlight = 0;
  let received = 0;
  let sent = 0;
  const opened = (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      received += socket.bytesRead;
      sent += socket.bytesWritten;
    });
  };
  const asked = (_: IncomingMessage, response: ServerResponse) => {
    inFlight += 1;
    response.once('close', () => {
      inFlight -= 1;
    });
  };
  for (const server of servers) server.on('connection', opened).on('request', asked);
  const sum = (bytes: (socket: Socket) => number) =>
    [...open].reduce((all, socket) => all + bytes(socket), 0);
  return [
    reading(
      'gauge',
      'pwpush_http_requests_in_flight',
      'Requests being answered, downloads under way included.',
      () => inFlight,
    ),
    reading('gauge', 'pwpush_http_connections', 'Connections that are open.', () => open.size),
    reading(
      'counter',
      'pwpush_http_received_bytes_total',
      'Bytes that came over connections.',
      () => received + sum(({ bytesRead }) => bytesRead),
    ),
    reading(
      'counter',
      'pwpush_http_sent_bytes_total',
      'Bytes that went over connections.',
      () => sent + sum(({ bytesWritten }) => bytesWritten),
    ),
  ];
}
