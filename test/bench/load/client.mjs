// Sends requests over kept-alive connections, one at a time on each, and measures the responses: plain sockets and
// requests made beforehand, so that a core goes to the service and not to this process. Takes jobs from its parent.
// Usage: node client.mjs [a name in kinds.mjs [token]]
import { connect } from 'node:net';
import { kinds } from './kinds.mjs';

const kind = kinds[process.argv[2] ?? 'pwpush'];
const idField = new RegExp(`"${kind.id}":\\s*"([^"]+)"`);

/** Calls `onResponse(status, text)` for each response; `send` takes the next request once that was called. */
function wire(port, onResponse) {
  let socket;
  let text = '';
  const ended = () => {
    const response = text;
    text = '';
    onResponse(Number(response.slice(9, 12)), response);
  };
  const open = () => {
    socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
      if (text.length >= lengthOf(text)) ended();
    });
    // Some servers close the connection after each response, which may be all that says where it ends.
    socket.on('end', () => {
      socket = undefined;
      if (text) ended();
    });
    socket.on('error', (error) => {
      throw error;
    });
  };
  return {
    send(request) {
      if (!socket) open();
      socket.write(request, 'latin1');
    },
    close: () => socket?.destroy(),
  };
}

/** How long a response is with its head, if that says so and the connection stays open. */
function lengthOf(text) {
  const blank = text.indexOf('\r\n\r\n');
  const head = text.slice(0, blank);
  const length = /\ncontent-length: (\d+)/i.exec(head);
  if (!length || /\nconnection: close/i.test(head)) return Number.POSITIVE_INFINITY;
  return blank + 4 + Number(length[1]);
}

/**
 * Sends what `next` returns over so many connections, until that is nothing or the seconds are over. Returns the
 * number, the rate a second, and latencies in milliseconds: of all, or of the last 100,000. A refusal is an error
 * unless the job counts them.
 */
function drive(job, next, take = () => {}) {
  const { port, connections, seconds = Number.POSITIVE_INFINITY, countRefused } = job;
  return new Promise((resolve, reject) => {
    const latencies = [];
    const began = performance.now();
    let open = connections;
    let count = 0;
    let refused = 0;
    for (let i = 0; i < connections; i += 1) {
      let sent = 0;
      const { send, close } = wire(port, (status, response) => {
        if (status !== 200 && status !== 201) {
          if (!countRefused) return reject(new Error(response));
          refused += 1;
        }
        latencies[count % 100_000] = performance.now() - sent;
        count += 1;
        take(status, response);
        more();
      });
      const more = () => {
        const request = performance.now() - began < seconds * 1000 ? next() : undefined;
        sent = performance.now();
        if (request !== undefined) return send(request);
        close();
        open -= 1;
        if (open === 0) {
          resolve({ refused, ...figures(count, performance.now() - began, latencies) });
        }
      };
      more();
    }
  });
}

function figures(count, milliseconds, latencies) {
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.floor(latencies.length * part)] ?? 0;
  const rate = count / (milliseconds / 1000);
  return { count, rate, p50: at(0.5), p99: at(0.99), longest: latencies.at(-1) ?? 0 };
}

/** The pushes made so far that have views left, by views. */
const pushed = { 1: [], 100: [] };

/** Whether the job that runs is to end. */
let stopped = false;

const retrieval = (id) => id && kind.take(id);

function keep(views, response) {
  const field = idField.exec(response);
  if (!field) throw new Error(response);
  pushed[views].push(field[1]);
}

const jobs = {
  /** Makes `count` pushes, or as many as there is time for. */
  create({ views, count = Number.POSITIVE_INFINITY, ...job }) {
    let left = count;
    const next = () => {
      left -= 1;
      return left >= 0 ? kind.create(views) : undefined;
    };
    return drive(job, next, (_, response) => keep(views, response));
  },
  /** Takes views of pushes that have more. */
  view(job) {
    const ids = pushed[100].splice(0);
    let left = ids.length * 99;
    return drive(job, () => {
      left -= 1;
      return left >= 0 ? retrieval(ids[left % ids.length]) : undefined;
    });
  },
  /** Takes the only view of a push, which ends it. */
  last: (job) => drive(job, () => retrieval(pushed[1].pop())),
  /** Makes pushes and takes their only view, in turns. */
  mixed(job) {
    let turn = 0;
    const next = () => {
      turn += 1;
      return (turn % 2 === 0 && retrieval(pushed[1].shift())) || kind.create(1);
    };
    return drive(job, next, (status, response) => status === 201 && keep(1, response));
  },
  /** The same request again and again, `count` times or until it is stopped. */
  repeat({ request, count = Number.POSITIVE_INFINITY, ...job }) {
    stopped = false;
    let left = count;
    return drive(job, () => {
      left -= 1;
      return left >= 0 && !stopped ? request : undefined;
    });
  },
  /** Has so many readers take the only view of each of `count` new pushes at once. */
  async race({ port, count, readers }) {
    pushed[1] = [];
    await jobs.create({ port, connections: readers, views: 1, count });
    let given;
    let left;
    let over;
    const wires = Array.from({ length: readers }, () =>
      wire(port, (_, response) => {
        if (response.includes(kind.given)) given += 1;
        left -= 1;
        if (left === 0) over();
      }),
    );
    const times = { none: 0, once: 0, more: 0 };
    for (const id of pushed[1].splice(0)) {
      await new Promise((resolve) => {
        [given, left, over] = [0, readers, resolve];
        for (const { send } of wires) send(retrieval(id));
      });
      times[['none', 'once'][given] ?? 'more'] += 1;
    }
    for (const { close } of wires) close();
    return times;
  },
};

process.on('message', async ({ what, ...job }) => {
  if (what === 'stop') stopped = true;
  else process.send(await jobs[what](job));
});
