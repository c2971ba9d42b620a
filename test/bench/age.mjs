// How fast src/age encrypts and decrypts in memory, how much memory it takes, and how long scrypt does.
// Usage: node test/bench/age.mjs [MiB] [runs]     (512 and 5)
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAge } from './age-code.mjs';

const bytes = Number(process.argv[2] ?? 512) * 1024 * 1024;
const runs = Number(process.argv[3] ?? 5);
const { prepareFile, decryptStream, passphraseRecipient, passphraseIdentity } = await built();

async function built() {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
  try {
    return await import(await buildAge(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function* source(piece) {
  for (let left = bytes; left > 0; left -= piece.length) yield piece;
}

async function drained(stream) {
  const start = performance.now();
  for await (const _ of stream);
  return performance.now() - start;
}

const recipients = [passphraseRecipient('a passphrase', 10)];
const identities = [passphraseIdentity('a passphrase')];
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const rate = (milliseconds) => `${(bytes / 1000 / milliseconds).toFixed(0)} MB/s`;

console.log(`Node ${process.version}, ${cpus()[0].model}, ${bytes / 1024 / 1024} MiB, medians`);
for (const size of [64 * 1024, 1024 * 1024]) {
  const piece = Buffer.alloc(size, 'x');
  const encrypting = async () => (await prepareFile(recipients)).encrypt(source(piece));
  const once = [];
  const both = [];
  for (let run = 0; run < runs; run++) {
    once.push(await drained(await encrypting()));
    both.push(await drained(await decryptStream(await encrypting(), identities)));
  }
  const [encrypted, decrypted] = [median(once), median(both) - median(once)];
  console.log(`pieces of ${size / 1024} KiB: encrypt ${rate(encrypted)}, decrypt ${rate(decrypted)}`);
}
console.log(`peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB`);
for (const work of [10, 16, 18]) {
  const start = performance.now();
  await passphraseRecipient('a passphrase', work).wrap(Buffer.alloc(16));
  console.log(`scrypt 2^${work}: ${(performance.now() - start).toFixed(1)} ms`);
}
