// What `push --each` is measured against: lines in, creations over a pool of eight, links out.
import { createInterface } from 'node:readline';
import { Pool } from 'undici';

const pool = new Pool(process.argv[2], { connections: 8 });
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const headers = {
  'content-type': 'application/json',
  // The service has more to do for somebody it knows.
  authorization: `Bearer ${process.env.PWPUSH_TOKEN}`,
};

async function worker() {
  for (let next = await lines.next(); !next.done; next = await lines.next()) {
    const body = JSON.stringify({ push: { payload: next.value } });
    const response = await pool.request({ path: '/api/v2/pushes', method: 'POST', headers, body });
    const { html_url: link } = await response.body.json();
    process.stdout.write(`${link}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, worker));
await pool.close();
