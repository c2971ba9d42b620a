// Parts of src in memory: how fast src/age encrypts and decrypts, and how fast `run --mask` replaces secrets in
// output. Usage: node test/bench/code.mjs age|mask [MiB]
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Returns the address of a module of src as one file, which is gone at the end. */
export async function bundled(name) {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true }));
  const bundle = await rolldown({
    input: fileURLToPath(new URL(`../../src/${name}.ts`, import.meta.url)),
    platform: 'node',
  });
  const file = `${basename(name)}.mjs`;
  await bundle.write({ dir: folder, entryFileNames: file, chunkFileNames: '[name].mjs' });
  return pathToFileURL(join(folder, file)).href;
}

async function* source(bytes, piece) {
  for (let left = bytes; left > 0; left -= piece.length) yield piece;
}

/** MB a second, the best of five runs. */
async function fastest(bytes, work) {
  let best = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 5; times += 1) {
    const stream = await work();
    const start = performance.now();
    for await (const _ of stream);
    best = Math.min(best, performance.now() - start);
  }
  return `${(bytes / 1000 / best).toFixed(0)} MB/s`;
}

async function age(bytes) {
  const { prepareFile, decryptStream, passphraseRecipient, passphraseIdentity } = await import(
    await bundled('age/age')
  );
  const piece = Buffer.alloc(64 * 1024, 'x');
  const encrypting = async () =>
    (await prepareFile([passphraseRecipient('a passphrase', 10)])).encrypt(source(bytes, piece));
  const decrypting = async () => decryptStream(await encrypting(), [passphraseIdentity('a passphrase')]);
  console.log(`encrypt ${await fastest(bytes, encrypting)}, and decrypt ${await fastest(bytes, decrypting)}`);
  console.log(`peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`);
}

const base64 = (length) => randomBytes(length).toString('base64').slice(0, length);
const text = (length) => [base64(length).replace(/.{64}/g, '$&\n')];
const many = (number) => Array.from({ length: number }, () => base64(24));

async function mask(bytes) {
  const modules = ['run/automaton', 'run/mask', 'run/secret-forms'].map(async (name) => import(await bundled(name)));
  const { automatonOf, streamMask, formsOf } = Object.assign({}, ...(await Promise.all(modules)));
  const log = Array.from({ length: 10_000 }, (_, at) => `${at} GET /api/users/${at * 7919} 200 ${at % 977} ms\n`);
  const outputs = {
    'a log': Buffer.from(log.join('')),
    base64: Buffer.from(base64(400_000)),
    bytes: randomBytes(400_000),
  };
  // biome-ignore format: one line for all.
  const secrets = { '1 secret': many(1), '3 secrets': many(3), '50 secrets': many(50), 'a key of 3 KiB': text(3072), 'a text of 1 MiB': text(1024 ** 2) };
  for (const [name, texts] of Object.entries(secrets)) {
    const start = performance.now();
    const automaton = automatonOf(formsOf(texts.map((text, at) => ({ name: `${at}`, text }))).patterns);
    const rates = [`${name}: built in ${(performance.now() - start).toFixed(1)} ms`];
    for (const [what, output] of Object.entries(outputs)) {
      const masked = async function* () {
        const { push, end } = streamMask(automaton);
        for (let done = 0; done < bytes; done += output.length)
          for (let at = 0; at < output.length; at += 65_536) yield push(output.subarray(at, at + 65_536));
        yield end();
      };
      rates.push(`${what} ${await fastest(bytes, masked)}`);
    }
    console.log(rates.join(', '));
  }
}

const [, self, what, mebibytes = '64'] = process.argv;
if (self === fileURLToPath(import.meta.url)) await { age, mask }[what](Number(mebibytes) * 1024 ** 2);
