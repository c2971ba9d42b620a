// A server in this process that takes pushes, gives one, and keeps nothing, so that only the client's time is measured.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Runs `work` with the URL of the server, and `run(command, input)`, which returns milliseconds and stdout. */
export async function withStandIn(work) {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  // NODE_EXTRA_CA_CERTS, for one, costs Node 20 50 ms a start wherever it is set.
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PWPUSH_CONFIG_DIR: join(folder, 'config'),
    PWPUSH_STATE_DIR: join(folder, 'state'),
    PWPUSH_URL: url,
    PWPUSH_TOKEN: 'bench',
    NO_PROXY: '*',
  };
  try {
    return await work({ url, run: (command, input = '') => run(command, input, env) });
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}

function respond(request, response) {
  const html_url = `http://${request.headers.host}/p/abc`;
  const body = JSON.stringify({ url_token: 'abc', html_url, payload: 'secret' });
  request.resume().on('end', () => {
    const fields = { 'content-type': 'application/json', 'content-length': body.length };
    response.writeHead(request.method === 'POST' ? 201 : 200, fields).end(body);
  });
}

async function run([command, ...words], input, env) {
  const start = process.hrtime.bigint();
  const child = spawn(command, words, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  // One that reads no input may end before it is written.
  child.stdin.on('error', () => {}).end(input);
  const [stdout, [status]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}`);
  return { milliseconds: Number(process.hrtime.bigint() - start) / 1e6, stdout };
}
