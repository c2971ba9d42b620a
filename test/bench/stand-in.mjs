// Takes what is posted, and gives it: a process of its own that keeps nothing but the first form, an encrypted push of one
// file, so that the client is measured. Usage: node stand-in.mjs [FILE to keep that in] [FILE of a key and a certificate]
import { fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import * as net from 'node:net';
import * as tls from 'node:tls';

const [, , path, secured] = process.argv;
const pem = secured ? readFileSync(secured) : undefined;
const kept = path ? openSync(path, 'w+') : undefined;
/** What a retrieval gets: a secret, or what is kept of the first form. */
let first = kept === undefined ? { payload: 'secret' } : undefined;

function serve(socket) {
  let left = 0;
  socket.on('error', () => {});
  socket.on('data', (data) => {
    let body = data;
    if (left === 0) {
      const text = data.toString('latin1');
      if (text.startsWith('GET /file')) return giveFile(socket);
      if (text.startsWith('GET ')) return giveSecret(socket);
      if (/^expect: 100/im.test(text)) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      left = Number(/^content-length: (\d+)/im.exec(text)[1]);
      body = data.subarray(text.indexOf('\r\n\r\n') + 4);
    }
    left -= body.length;
    if (!first) writeSync(kept, body);
    if (left > 0) return;
    first ??= partsOf(kept);
    json(socket, 201, { url_token: 'abc', html_url: `${urlOf(socket)}/p/abc` });
  });
}
const server = pem ? tls.createServer({ key: pem, cert: pem }, serve) : net.createServer(serve);
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: urlOf({ localPort: server.address().port }) })));

const urlOf = ({ localPort }) => `${pem ? 'https' : 'http'}://127.0.0.1:${localPort}`;

/** The payload, and where the file is, of a form. */
function partsOf(kept) {
  const start = Buffer.alloc(64 * 1024);
  readSync(kept, start, 0, start.length, 0);
  const text = start.toString('latin1');
  const [, payload] = /name="push\[payload\]"\r\n\r\n(.*?)\r\n--/s.exec(text);
  const from = text.indexOf('\r\n\r\n', text.indexOf('name="push[files][]"')) + 4;
  const end = `\r\n${text.slice(0, text.indexOf('\r\n'))}--\r\n`;
  return { payload, from, to: fstatSync(kept).size - end.length };
}

function giveSecret(socket) {
  const files = first.from && [{ filename: '1.age', url: `${urlOf(socket)}/file` }];
  json(socket, 200, { url_token: 'abc', payload: first.payload, files });
}

function json(socket, status, value) {
  const body = JSON.stringify(value);
  const head = `content-type: application/json\r\ncontent-length: ${body.length}`;
  socket.write(`HTTP/1.1 ${status} OK\r\n${head}\r\n\r\n${body}`);
}

async function giveFile(socket) {
  const { from, to } = first;
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${to - from}\r\n\r\n`);
  const room = Buffer.allocUnsafeSlow(1024 * 1024);
  for (let at = from; at < to; ) {
    const length = readSync(kept, room, 0, Math.min(room.length, to - at), at);
    at += length;
    await new Promise((written) => socket.write(room.subarray(0, length), written));
  }
}
