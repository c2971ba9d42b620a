// Sends requests over kept-alive connections, one at a time on each, and measures the answers: plain sockets and
// requests made beforehand, so that a core goes to the service and not to this process. Takes jobs from its parent.
import { connect } from 'node:net';
import { get, post } from './requests.mjs';

/** Calls `onAnswer(status, text)` for each answer; `send` takes the next request once that was called. */
function wire(port, onAnswer) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  let end = 0;
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    text += chunk;
    if (end === 0) {
      const blank = text.indexOf('\r\n\r\n');
      if (blank === -1) return;
      const length = /content-length: (\d+)/i.exec(text);
      if (!length) throw new Error(`an answer without a length: ${text.slice(0, 200)}`);
      end = blank + 4 + Number(length[1]);
    }
    if (text.length < end) return;
    const answer = text;
    text = '';
    end = 0;
    onAnswer(Number(answer.slice(9, 12)), answer);
  });
  socket.on('error', (error) => {
    throw error;
  });
  return { send: (request) => socket.write(request, 'latin1'), close: () => socket.destroy() };
}

/**
 * Sends what `next` answers over so many connections, until that is nothing or the seconds are over. Answers the
 * number, the seconds, and latencies in milliseconds: of all, or of the last 100,000.
 */
function drive({ port, connections, seconds }, next, take = () => {}) {
  return new Promise((resolve, reject) => {
    const latencies = [];
    const began = performance.now();
    let open = connections;
    let count = 0;
    for (let i = 0; i < connections; i += 1) {
      let sent = 0;
      const { send, close } = wire(port, (status, answer) => {
        if (status !== 200 && status !== 201) return reject(new Error(answer));
        latencies[count % 100_000] = performance.now() - sent;
        count += 1;
        take(status, answer);
        more();
      });
      const more = () => {
        const request = performance.now() - began < seconds * 1000 ? next() : undefined;
        sent = performance.now();
        if (request !== undefined) return send(request);
        close();
        open -= 1;
        if (open === 0) resolve({ count, seconds: (performance.now() - began) / 1000, latencies });
      };
      more();
    }
  });
}

/** The pushes made so far that have views left, by views. */
const pushed = { 1: [], 100: [] };

const creation = (views) =>
  post(
    '/api/v2/pushes',
    JSON.stringify({
      push: { payload: 'correct horse battery staple', expire_after_views: views },
    }),
  );
const retrieval = (token) => token && get(`/api/v2/pushes/${token}`);

function keep(views, answer) {
  const at = answer.indexOf('"url_token":"') + 13;
  pushed[views].push(answer.slice(at, answer.indexOf('"', at)));
}

const jobs = {
  /** Makes `count` pushes, or as many as there is time for. */
  create({ views, count = Number.POSITIVE_INFINITY, ...job }) {
    const request = creation(views);
    let left = count;
    const next = () => {
      left -= 1;
      return left >= 0 ? request : undefined;
    };
    return drive(job, next, (_, answer) => keep(views, answer));
  },
  /** Takes views of pushes that have more. */
  view(job) {
    const tokens = pushed[100].splice(0);
    let left = tokens.length * 99;
    return drive(job, () => {
      left -= 1;
      return left >= 0 ? retrieval(tokens[left % tokens.length]) : undefined;
    });
  },
  /** Takes the only view of a push, which ends it. */
  last: (job) => drive(job, () => retrieval(pushed[1].pop())),
  /** Makes pushes and takes their only view, in turns. */
  mixed(job) {
    const request = creation(1);
    let turn = 0;
    const next = () => {
      turn += 1;
      return (turn % 2 === 0 && retrieval(pushed[1].shift())) || request;
    };
    return drive(job, next, (status, answer) => status === 201 && keep(1, answer));
  },
  /** The same request again and again. */
  repeat: ({ request, ...job }) => drive(job, () => request),
};

process.on('message', async ({ what, ...job }) => {
  const { count, seconds, latencies } = await jobs[what](job);
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.floor(latencies.length * part)] ?? 0;
  process.send({ count, rate: count / seconds, p50: at(0.5), p99: at(0.99) });
});
