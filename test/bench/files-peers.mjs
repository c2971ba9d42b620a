// One file encrypted and decrypted by age and by pwpush, in turns. age writes a file; pwpush sends it to a service on the
// same disk, which stores it, and gets it from there. Both also encrypt to nothing. Needs age, script and GNU time.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { buildAge } from './age-code.mjs';
import { median, script, table } from './client/processes.mjs';
import { fill } from './files-client.mjs';
import { folder, processorTime, startServiceOf } from './load/processes.mjs';

const PASSPHRASE = 'correct horse battery staple';
const path = (name) => join(folder, name);
const quoted = (words) => words.map((word) => `'${word}'`).join(' ');

/** Reads a file and encrypts it to nothing, as `push --encrypt` does it with the key of a link. */
const alone = `
  import { createReadStream } from 'node:fs';
  const [bundle, file] = process.argv.slice(1);
  const { passphraseRecipient, prepareFile } = await import(bundle);
  const { encrypt } = await prepareFile([passphraseRecipient('${PASSPHRASE}', 10)]);
  for await (const _ of encrypt(createReadStream(file, { highWaterMark: 1024 * 1024 })));`;

/** Returns a table in Markdown, or nothing where age is missing. */
export async function besideAge(mebibytes, rounds, binary) {
  const missing = ['age', 'age-keygen', 'script'].filter((name) => spawnSync(name, ['--version']).status !== 0);
  if (missing.length > 0) return undefined;
  await fill(path('big'), mebibytes);
  const bundle = await buildAge(folder);
  const service = await startServiceOf(
    [process.execPath, script],
    ...['--data', path('encrypted'), '--max-file-size', '4GiB', '--rate-limit', 'off'],
  );
  const cases = casesFor(service, bundle, binary);
  for (let round = 0; round <= rounds; round++) {
    for (const { run, results } of cases) {
      rmSync(path('out'), { recursive: true, force: true });
      mkdirSync(path('out'));
      const result = await run();
      // The first round warms the caches of the file system.
      if (round > 0) results.push(result);
    }
  }
  await service.stop();
  const head = [`${mebibytes} MiB`, 's', 'processor, s', 'of the service, s', 'peak MiB'];
  return table(
    head,
    cases.map(({ name, results }) => {
      const middle = (figure) => median(results.map((one) => one[figure]));
      const served = results[0].served === undefined ? '–' : middle('served').toFixed(2);
      const peak = Math.max(...results.map((one) => one.peak)).toFixed(0);
      return [name, middle('seconds').toFixed(2), middle('processor').toFixed(2), served, peak];
    }),
  );
}

function casesFor(service, bundle, binary) {
  const big = path('big');
  const key = path('key');
  const { stderr } = spawnSync('age-keygen', ['-o', key], { encoding: 'utf8' });
  const recipient = /age1\w+/.exec(stderr)[0];
  const out = path('out/out');
  const toKey = path('key.age');
  const toPassphrase = path('passphrase.age');
  const toNothing = quoted(['age', '-r', recipient, big]);
  const programs = { 'pwpush on Node.js': [process.execPath, script] };
  if (binary) programs['pwpush, the executable'] = [resolve(binary)];
  const ours = Object.entries(programs).map(([name, program]) => {
    let link;
    const served = async (words) => {
      const before = processorTime(service);
      const result = await timed([...program, ...words], service);
      return { ...result, served: (processorTime(service) - before) / 1e6 };
    };
    const push = async () => {
      const result = await served(['push', '--encrypt', '--file', big]);
      link = result.stdout.trim();
      return result;
    };
    const get = () => served(['get', link, '--output', path('out'), '--quiet']);
    return { name, push, get };
  });
  return [
    ['`age -r`', () => timed(['age', '-r', recipient, '-o', toKey, big])],
    ['`age -p`', () => typed(['age', '-p', '-o', toPassphrase, big], 2)],
    ...ours.map(({ name, push }) => [`${name}: \`push --encrypt\``, push]),
    ['`age -d -i`', () => timed(['age', '-d', '-i', key, '-o', out, toKey])],
    ['`age -d`, with a passphrase', () => typed(['age', '-d', '-o', out, toPassphrase], 1)],
    ...ours.map(({ name, get }) => [`${name}: \`get\``, get]),
    ['`age -r`, to nothing', () => timed(['sh', '-c', `${toNothing} > /dev/null`])],
    ['pwpush on Node.js, to nothing', () => timed([process.execPath, '--input-type=module', '-e', alone, bundle, big])],
  ].map(([name, run]) => ({ name, run, results: [] }));
}

/** Runs a program once, as GNU time tells; `said` is on its standard input. */
async function timed(words, { url, token } = {}, said = undefined) {
  const told = path('told');
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    NO_PROXY: '*',
    ...(url && { PWPUSH_URL: url, PWPUSH_TOKEN: token }),
    PWPUSH_CONFIG_DIR: path('config'),
    PWPUSH_STATE_DIR: path('state'),
  };
  const time = ['time', '--format', '%e %U %S %M', '--output', told, ...words];
  const [command, ...rest] =
    said === undefined ? time : ['script', '--quiet', '--return', '--command', quoted(time), '/dev/null'];
  const child = spawn(command, rest, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {}).end(said);
  const [stdout, stderr, [status]] = await Promise.all([
    ...[text(child.stdout), text(child.stderr)],
    once(child, 'exit'),
  ]);
  if (status !== 0) throw new Error(`${words.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  const [seconds, user, system, peak] = readFileSync(told, 'utf8').trim().split(' ').map(Number);
  return { stdout, seconds, processor: user + system, peak: peak / 1024 };
}

/** age takes passphrases from terminals alone, so it gets one, where they are typed so many times. */
const typed = (words, times) => timed(words, undefined, `${PASSPHRASE}\n`.repeat(times));
