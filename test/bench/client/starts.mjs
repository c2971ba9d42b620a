// How long short runs take, to a Node.js that does nothing: in turns, to a server in this process that keeps nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, script } from './processes.mjs';

const onNode = [process.execPath, script];

/**
 * Returns, for each kind of run, the median over the rounds of its time to that of `node -e 0` in the same round.
 * @param kinds some of `push` (piped), `get`, `help` and `version`
 */
export async function starts(kinds, rounds, program = onNode) {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
  const server = await standIn();
  const { port } = server.address();
  const address = `http://127.0.0.1:${port}`;
  // NODE_EXTRA_CA_CERTS, for one, costs Node 20 50 ms a start wherever it is set.
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PWPUSH_CONFIG_DIR: join(folder, 'config'),
    PWPUSH_STATE_DIR: join(folder, 'state'),
    PWPUSH_URL: address,
    PWPUSH_TOKEN: 'bench',
    NO_PROXY: '*',
  };
  const words = {
    push: ['push'],
    get: ['get', `${address}/p/abc`],
    help: ['--help'],
    version: ['--version'],
  };
  const ratios = Object.fromEntries(kinds.map((kind) => [kind, []]));
  try {
    // The first two rounds warm the caches: the program's own and that of the file system.
    for (let round = -2; round < rounds; round++) {
      const bare = await milliseconds([process.execPath, '-e', '0'], env);
      for (const kind of kinds) {
        const ours = await milliseconds([...program, ...words[kind]], env);
        if (round >= 0) ratios[kind].push(ours / bare);
      }
    }
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
  return Object.fromEntries(Object.entries(ratios).map(([kind, list]) => [kind, median(list)]));
}

async function standIn() {
  const server = createServer((request, response) => {
    const { port } = server.address();
    const push = {
      url_token: 'abc',
      html_url: `http://127.0.0.1:${port}/p/abc`,
      payload: 'secret',
    };
    request.resume().on('end', () => {
      response.writeHead(request.method === 'POST' ? 201 : 200, {
        'content-type': 'application/json',
      });
      response.end(JSON.stringify(push));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

async function milliseconds([command, ...words], env) {
  const start = process.hrtime.bigint();
  const child = spawn(command, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdout.resume();
  // One that reads no input may end before it is written.
  child.stdin.on('error', () => {}).end('secret');
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}
