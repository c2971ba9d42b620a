// Prints the rows of each statement on a SQLite file as a line of JSON, blobs in base64. A process of its own: libsql
// closes a file only once its statements were collected as garbage, and until then the service is not alone with it.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const [path, ...statements] = process.argv.slice(2);
const database = open();
for (const text of statements) {
  const rows = database.prepare(text).all();
  const bytes = (_, value) => (isBytes(value) ? Buffer.from(value).toString('base64') : value);
  process.stdout.write(`${JSON.stringify(rows, bytes)}\n`);
}

function open() {
  try {
    return new (require('node:sqlite').DatabaseSync)(path);
  } catch {
    return new (require('libsql'))(path);
  }
}

/** A buffer has turned itself into an object before it is seen here. */
function isBytes(value) {
  return value instanceof Uint8Array || value instanceof ArrayBuffer || value?.type === 'Buffer';
}
