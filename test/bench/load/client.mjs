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
 * number, the seconds, and the latencies in milliseconds, of which a sample of 1 in `every` is kept.
 */
function drive({ port, connections, seconds, expected, every = 1 }, next, take = () => {}) {
  return new Promise((resolve, reject) => {
    const latencies = [];
    const began = performance.now();
    let open = connections;
    let count = 0;
    for (let i = 0; i < connections; i += 1) {
      let sent = 0;
      const { send, close } = wire(port, (status, answer) => {
        if (status !== expected) return reject(new Error(answer));
        count += 1;
        if (count % every === 0) latencies.push(performance.now() - sent);
        take(answer);
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

const jobs = {
  create(job) {
    const body = JSON.stringify({
      push: { payload: 'correct horse battery staple', expire_after_views: job.views },
    });
    const request = post('/api/v2/pushes', body);
    const keep = (answer) => {
      const at = answer.indexOf('"url_token":"') + 13;
      pushed[job.views].push(answer.slice(at, answer.indexOf('"', at)));
    };
    let left = job.count ?? Number.POSITIVE_INFINITY;
    const next = () => {
      left -= 1;
      return left >= 0 ? request : undefined;
    };
    return drive({ ...job, expected: 201 }, next, keep);
  },
  /** Takes views of pushes that have more. */
  view(job) {
    const tokens = pushed[100].splice(0);
    const left = tokens.length * 99;
    let sent = 0;
    const next = () => {
      sent += 1;
      return sent <= left ? get(`/api/v2/pushes/${tokens[sent % tokens.length]}`) : undefined;
    };
    return drive({ ...job, expected: 200 }, next);
  },
  /** Takes the only view of a push, which ends it. */
  last(job) {
    const next = () => {
      const token = pushed[1].pop();
      return token === undefined ? undefined : get(`/api/v2/pushes/${token}`);
    };
    return drive({ ...job, expected: 200 }, next);
  },
  /** The same request again and again. */
  repeat(job) {
    return drive({ expected: 200, ...job }, () => job.request);
  },
};

process.on('message', async ({ what, ...job }) => {
  const { count, seconds, latencies } = await jobs[what](job);
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.floor(latencies.length * part)] ?? 0;
  process.send({
    count,
    rate: count / seconds,
    p50: at(0.5),
    p99: at(0.99),
    pushed: pushed[1].length,
  });
});
