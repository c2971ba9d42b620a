import type { Transport } from '../../src/platform/context';
import { joined } from './age';
import { answering, json } from './wire';

/**
 * An instance that always gives the same answer to a call, which is named with its query, such as `GET /version`: an object,
 * or the status of a refusal. To all others it answers 404.
 */
export function answersTo(calls: Readonly<Record<string, number | object>>) {
  const asked: string[] = [];
  const bodies: string[] = [];
  const send: Transport = async ({ method, url, body }) => {
    const call = `${method} ${url.replace(/^.*\/api\/v2/, '')}`;
    asked.push(call);
    if (body !== undefined) bodies.push(typeof body === 'string' ? body : `${await joined(body)}`);
    const answer = calls[call] ?? 404;
    const status = typeof answer === 'number' ? answer : 200;
    return answering(json(status, status === 200 ? JSON.stringify(answer) : '{"error":"no"}'));
  };
  return {
    send,
    asked,
    bodies,
  };
}
