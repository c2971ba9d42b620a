// Sends requests over kept-alive connections, one at a time on each, and measures the responses: over plain sockets, so
// that a core goes to the service and not to this process. Takes jobs from its parent.
// Usage: node load.mjs KIND [TOKEN]
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

const [, , name, token] = process.argv;
const SECRET = 'correct horse battery staple';

function requestOf(method, path, fields, body = '') {
  const ofBody = body && { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const all = Object.entries({ Host: 'localhost', ...ofBody, ...fields });
  return `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

const ours = (fields = () => ({})) => ({
  create(views) {
    const body = JSON.stringify({ push: { payload: SECRET, expire_after_views: views } });
    return requestOf('POST', '/api/v2/pushes', fields(), body);
  },
  id: 'url_token',
  take: (id) => requestOf('GET', `/api/v2/pushes/${id}`, fields()),
  given: SECRET,
});

// Cheap to make, as the service hashes them: random ones took the client up to a tenth of the time.
const keys = randomBytes(16).toString('base64url');
let used = 0;
function withKey() {
  used += 1;
  return { 'Idempotency-Key': `"${keys}${used}"` };
}

const ajax = { 'X-Requested-With': 'JSONHttpRequest' };
/** PrivateBin finds a paste by its ciphertext, so each has one of its own; it refuses what random bytes would not be. */
const paste = () => ({
  v: 2,
  adata: [['MTIzNDU2Nzg5MDEy', 'MTIzNDU2Nzg', 100_000, 256, 128, 'aes', 'gcm', 'none'], 'plaintext', 0, 1],
  ct: randomBytes(44).toString('base64'),
  meta: { expire: '1week' },
});

/**
 * How a secret is kept and given: `create` and `take` make requests; `id` is the field that names a secret, and `given`
 * stands only in the response that has it.
 */
const kinds = {
  pwpush: ours(),
  /** With an `Idempotency-Key` in each request, as our client sends them. */
  keys: ours(withKey),
  /** By the owner of all pushes, who reads them without using a view. */
  owner: ours(() => ({ Authorization: `Bearer ${token}` })),
  snappass: {
    create: () => requestOf('POST', '/api/v2/passwords', {}, JSON.stringify({ password: SECRET })),
    id: 'token',
    take: (id) => requestOf('GET', `/api/v2/passwords/${id}`),
    given: SECRET,
  },
  PrivateBin: {
    create: () => requestOf('POST', '/', ajax, JSON.stringify(paste())),
    id: 'id',
    take: (id) => requestOf('GET', `/?pasteid=${id}`, ajax),
    given: '"ct":',
  },
};
const kind = kinds[name];
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
    socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
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

/** Whether the job that runs is to end. */
let stopped = false;

/**
 * Sends what `next` returns over so many connections, until that is nothing, `count` are sent or the seconds are over.
 * Returns the number, the rate a second, and latencies in milliseconds: of all, or of the last 100,000. A refusal is an
 * error unless the job counts them.
 */
function drive(job, next, take = () => {}) {
  const { port, connections, countRefused } = job;
  const { seconds = Number.POSITIVE_INFINITY, count: most = Number.POSITIVE_INFINITY } = job;
  stopped = false;
  return new Promise((resolve, reject) => {
    const latencies = [];
    const began = performance.now();
    let [open, left, count, refused] = [connections, most, 0, 0];
    for (let i = 0; i < connections; i += 1) {
      let sent = 0;
      const { send, close } = wire(port, (status, response) => {
        if (status !== 200 && status !== 201) {
          if (!countRefused) return reject(new Error(response));
          refused += 1;
        }
        latencies[count % 100_000] = performance.now() - sent;
        count += 1;
        take(response, status);
        more();
      });
      const more = () => {
        left -= 1;
        const isOver = stopped || left < 0 || performance.now() - began > seconds * 1000;
        const request = isOver ? undefined : next();
        sent = performance.now();
        if (request !== undefined) return send(request);
        close();
        open -= 1;
        if (open === 0) resolve({ refused, ...figures(count, performance.now() - began, latencies) });
      };
      more();
    }
  });
}

function figures(count, milliseconds, latencies) {
  latencies.sort((a, b) => a - b);
  const at = (part) => latencies[Math.floor(latencies.length * part)] ?? 0;
  return { count, rate: count / (milliseconds / 1000), p50: at(0.5), p99: at(0.99), longest: latencies.at(-1) ?? 0 };
}

/** The pushes made so far that have views left, by views. */
const pushed = { 1: [], 100: [] };

const jobs = {
  /** Makes pushes. */
  create({ views, ...job }) {
    const keep = (response) => pushed[views].push(idField.exec(response)[1]);
    return drive(job, () => kind.create(views), keep);
  },
  /** Takes views of pushes that have more. */
  view(job) {
    const ids = pushed[100].splice(0);
    let left = ids.length * 99;
    return drive(job, () => {
      left -= 1;
      return left >= 0 ? kind.take(ids[left % ids.length]) : undefined;
    });
  },
  /** Takes the only view of a push, which ends it. */
  last: (job) =>
    drive(job, () => {
      const id = pushed[1].pop();
      return id && kind.take(id);
    }),
  /** The same request again and again. */
  repeat({ method = 'GET', path, fields, body, ...job }) {
    const request = requestOf(method, path, fields, body);
    return drive(job, () => request);
  },
  /** Has so many readers take the only view of each of `count` new pushes at once. */
  async race({ port, count, readers }) {
    pushed[1] = [];
    await jobs.create({ port, connections: readers, views: 1, count });
    let [given, left, over] = [];
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
        for (const { send } of wires) send(kind.take(id));
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
