// How fast one large file is moved over loopback, and in how much memory: beside `curl`, to a server that keeps nothing, and
// encrypted, beside age, to a service on the same disk. Files are in BENCH_TMPDIR, of which /dev/shm leaves out the disk:
// `get` syncs what it writes, and curl does not.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundled } from './code.mjs';
import * as runner from './runner.mjs';

const { casesOf, comparison, folder, inTurns, middle, processorTime, run, serve, standIn } = runner;
const PASSPHRASE = 'correct horse battery staple';
const path = (name) => join(folder, name);
const out = path('out');
const figures = { seconds: 's', processor: 'processor, ms', mib: 'peak MiB' };

/** Makes a file of that size. */
async function fill(mebibytes) {
  const stream = createWriteStream(path('big'));
  const chunk = Buffer.alloc(1024 * 1024, 'pwpush');
  for (let written = 0; written < mebibytes; written++) {
    if (!stream.write(chunk)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
  return path('big');
}

/** Runs once, with an empty folder to write into: room for a second file would cost whoever needs it. */
async function moved(command, isWeighed, options) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out);
  const { milliseconds, ...taken } = await run(command, { ...options, isWeighed });
  return isWeighed ? taken : { ...taken, seconds: milliseconds / 1000 };
}

/** One file, sent and fetched by `curl` and by each program, as it is and encrypted. */
export async function besideCurl(programs, { mebibytes, rounds }) {
  const big = await fill(mebibytes);
  const { url, stop } = await standIn({ kept: path('kept') });
  const send = ['push', '--file', big, '--url', url];
  // The server keeps the first, and gives that.
  const { stdout: link } = await run([...programs.now, ...send, '--encrypt']);
  const fetch = ['get', link, '--output', out, '--quiet', '--url', url];
  const curl = (name, ...words) => ({ name, take: (isWeighed) => moved(['curl', '-sS', ...words], isWeighed) });
  const of = (name, words) => casesOf(programs, name, (program, isWeighed) => moved([...program, ...words], isWeighed));
  const pushes = [
    curl('push: curl', '-o', '/dev/null', '-F', `push[files][]=@${big}`, `${url}/api/v2/pushes`),
    ...of('push', send),
    ...of('push, encrypted', [...send, '--encrypt']),
  ];
  const gets = [
    curl('get: curl', '-o', join(out, 'got'), `${url}/file`),
    ...of('get', [...fetch, '--no-decrypt']),
    ...of('get, encrypted', fetch),
  ];
  const all = [...pushes, ...gets];
  await inTurns([pushes, gets], { rounds, warm: 1, weighed: 3 });
  await stop();
  const text = comparison(all, figures, 'to curl', (one) => (gets.includes(one) ? gets[0] : pushes[0]));
  const plain = all.find(({ name }) => name === 'push');
  const encrypted = all.find(({ name }) => name === 'push, encrypted');
  const beside = await limit(mebibytes, middle(plain, 'seconds'), middle(encrypted, 'seconds'));
  const how = `One file of ${mebibytes} MiB, medians of ${rounds} interleaved runs`;
  return { cases: all, text: `${how}:\n\n${text}\n\n${beside}` };
}

/** What `push --encrypt` took beside one thread that sends as without and encrypts as fast as OpenSSL. */
async function limit(mebibytes, plain, encrypted) {
  const speed = ['speed', '-mr', '-seconds', '2', '-bytes', '65536', '-evp', 'chacha20-poly1305'];
  const { stdout } = await run(['openssl', ...speed]);
  const rate = Number(/^\+F:.*:([\d.]+)$/m.exec(stdout)[1]) / 1024 ** 2;
  const cipher = mebibytes / rate;
  return (
    `\`openssl speed\` encrypts chunks of 64 KiB at ${rate.toFixed(0)} MiB/s. In one thread, \`push --encrypt\` could have ` +
    `${(plain / (plain + cipher)).toFixed(2)} of the speed of \`push\` (${plain.toFixed(2)} s and ${cipher.toFixed(2)} s), ` +
    `and had ${(plain / encrypted).toFixed(2)} (${encrypted.toFixed(2)} s).`
  );
}

/** Reads a file and encrypts it to nothing, as `push --encrypt` does it with the key of a link. */
const alone = `
  import { createReadStream } from 'node:fs';
  const [bundle, file] = process.argv.slice(1);
  const { passphraseRecipient, prepareFile } = await import(bundle);
  const { encrypt } = await prepareFile([passphraseRecipient('${PASSPHRASE}', 10)]);
  for await (const _ of encrypt(createReadStream(file, { highWaterMark: 1024 * 1024 })));`;

/** One file encrypted and decrypted by age, which writes a file, and by each program; both also encrypt to nothing. */
export async function besideAge(programs, { mebibytes, rounds }) {
  if (spawnSync('age', ['--version']).status !== 0) return 'age was not found.';
  const big = await fill(mebibytes);
  const bundle = await bundled('age/age');
  const limits = ['--max-file-size', '4GiB', '--rate-limit', 'off'];
  const service = await serve(programs.now, '--data', path('encrypted'), ...limits);
  const more = { PWPUSH_URL: service.url, PWPUSH_TOKEN: service.token };
  const links = {};
  const served = async (command, isWeighed) => {
    const before = processorTime(service.pid);
    const taken = await moved(command, isWeighed, { more });
    return { ...taken, serviceProcessor: processorTime(service.pid) - before };
  };
  const simple = (name, command, input) => ({ name, take: (isWeighed) => moved(command, isWeighed, { input }) });
  /** age takes passphrases from terminals alone, so it gets one, where they are typed so many times. */
  const typed = (name, words, times) => {
    const command = ['script', '--quiet', '--return', '--command', words.join(' '), '/dev/null'];
    return simple(name, command, `${PASSPHRASE}\n`.repeat(times));
  };
  const { stderr } = await run(['age-keygen', '-o', path('key')]);
  const recipient = /age1\w+/.exec(stderr)[0];
  const cases = [
    simple('`age -r`', ['age', '-r', recipient, '-o', path('key.age'), big]),
    typed('`age -p`', ['age', '-p', '-o', path('passphrase.age'), big], 2),
    ...casesOf(programs, '`pwpush push --encrypt`', async (program, isWeighed, side) => {
      const taken = await served([...program, 'push', '--encrypt', '--file', big], isWeighed);
      links[side] = taken.stdout;
      return taken;
    }),
    simple('`age -d -i`', ['age', '-d', '-i', path('key'), '-o', join(out, 'got'), path('key.age')]),
    typed('`age -d`, with a passphrase', ['age', '-d', '-o', join(out, 'got'), path('passphrase.age')], 1),
    ...casesOf(programs, '`pwpush get`', (program, isWeighed, side) =>
      served([...program, 'get', links[side], '--output', out, '--quiet'], isWeighed),
    ),
    simple('`age -r`, to nothing', ['sh', '-c', `age -r ${recipient} ${big} > /dev/null`]),
    simple('pwpush on Node.js, to nothing', [process.execPath, '--input-type=module', '-e', alone, bundle, big]),
  ];
  await inTurns(
    cases.map((one) => [one]),
    { rounds, warm: 1, weighed: 1 },
  );
  await service.stop();
  const all = { ...figures, serviceProcessor: 'of the service, ms' };
  return comparison(cases, all, 'to `age -r`', () => cases[0]);
}
