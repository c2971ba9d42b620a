// What the receipts of 10,000 pushes cost the next push, and the look at the last one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './processes.mjs';

const COUNT = 10_000;

/** Returns the milliseconds that a push takes more with 10,000 receipts than with one, and the ratio of `preview last`. */
export function receipts({ run, pwpush }, runs) {
  // The last push of both is on the first page of the listings.
  const [many, one] = [COUNT, 1].map((count) => {
    const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
    run(pwpush('push', '--each'), 'secret\n'.repeat(count), { PWPUSH_STATE_DIR: folder });
    return folder;
  });
  const folders = [one, many];
  const took = (words) =>
    folders.map((folder) => run(pwpush(...words), 'secret', { PWPUSH_STATE_DIR: folder }).milliseconds);
  const pairs = (words) => Array.from({ length: runs }, () => took(words));
  try {
    took(['preview', 'last']);
    const show = median(pairs(['preview', 'last']).map(([one, many]) => many / one));
    return { show, receipts: median(pairs(['push']).map(([one, many]) => many - one)) };
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
}
