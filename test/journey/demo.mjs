// The whole way in half a minute: serve, push, get, audit, expired. Everything lives in a temporary folder.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../bin/pwpush.js', import.meta.url));
const binary = process.env.PWPUSH_TEST_BINARY;
const [program, ...first] = binary ? [binary] : [process.execPath, launcher];
const folder = mkdtempSync(join(tmpdir(), 'pwpush-demo-'));
const secret = 'correct horse battery staple';

/** Somebody with a configuration of their own; no variable of the caller's reaches the program. */
const person = (name) => ({
  PATH: process.env.PATH,
  NO_PROXY: '*',
  PWPUSH_CONFIG_DIR: join(folder, name),
  PWPUSH_STATE_DIR: join(folder, name, 'state'),
});

/** Runs the program as that person, shows what is typed and what it says, and returns stdout. */
async function pwpush(name, words, { input = '', expect = 0 } = {}) {
  const typed = input === '' ? '' : `printf '${input}' | `;
  console.log(`\n${name}$ ${typed}pwpush ${words.join(' ')}`);
  const child = spawn(program, [...first, ...words], {
    env: person(name),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(input);
  let stdout = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) stdout += chunk;
  const status = child.exitCode ?? (await new Promise((resolve) => child.once('close', resolve)));
  process.stdout.write(stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`);
  if (status !== expect) throw new Error(`it ended with ${status}, not ${expect}`);
  if (expect !== 0) console.log(`(it ended with ${status}, as it should)`);
  return stdout.trim();
}

/** Starts the service and resolves with its process and address once it listens. */
async function serve() {
  const words = ['serve', '--port', '0', '--data', join(folder, 'data'), '--quiet'];
  console.log(`sender$ pwpush ${words.slice(0, 3).join(' ')} &`);
  const child = spawn(program, [...first, ...words], {
    env: person('sender'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line);
    return { child, ended };
  }
  throw new Error('the service did not start');
}

let service;
try {
  console.log('1. A service on a free port, with an embedded database in a temporary folder.\n');
  service = await serve();

  console.log('\n2. The sender pipes in a secret for one view, and gets a link and its QR code.');
  console.log('   It is encrypted: the service never sees the key, the part of the link after #.');
  const link = await pwpush('sender', ['push', '--views', '1', '--qr'], { input: secret });

  console.log('\n3. The recipient, who has nothing but the link, gets the secret.');
  const got = await pwpush('recipient', ['get', link]);
  if (got !== secret) throw new Error('the recipient got something else');

  console.log('\n4. The sender looks who saw it: time, event, address, program.');
  await pwpush('sender', ['audit', link]);

  console.log('\n5. That was the only view: a second retrieval finds the push expired.');
  await pwpush('recipient', ['get', link], { expect: 6 });
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
} finally {
  console.log('\n6. The service stops, and the temporary folder is removed.');
  service?.child.kill('SIGTERM');
  const status = await service?.ended;
  // Windows has no signals; there it is killed.
  if (service && status !== 0 && process.platform !== 'win32') {
    console.error(`demo: the service ended with ${status}`);
    process.exitCode = 1;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
