import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, constants, deflateRawSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rawServer } from '../helpers/listen';
import { partOf } from '../helpers/long';
import { allOf, needsPrograms, onLinux } from '../helpers/needs';
import { alsoBinary, measured, person, pwpush } from '../helpers/program';
import { RETRIEVED } from '../helpers/reference';

const somebody = person();
const MEBI = 1024 * 1024;
const spaces = Buffer.alloc(MEBI, ' ');

/** The head of an answer of JSON; with no length it goes on until the connection ends. */
const head = (...headers: string[]) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${headers.map((one) => `${one}\r\n`).join('')}\r\n`;

/** Writes without end, as fast as it is read, until the other side has had enough. */
function pour(socket: Socket, chunk: string | Buffer, first = ''): void {
  socket.write(first);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

function packed(coding: string, bytes: Buffer): string | Buffer {
  const length = `content-length: ${bytes.length}`;
  return Buffer.concat([Buffer.from(head(`content-encoding: ${coding}`, length)), bytes]);
}

/** One stream; packing the same mebibyte again and again would take seconds. Nobody gets to see that its end is missing. */
const gibibyte = () => {
  const mebibyte = deflateRawSync(spaces, { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([
    Buffer.from('1f8b08000000000000ff', 'hex'),
    ...Array<Buffer>(1024).fill(mebibyte),
  ]);
};
const quarter = () => {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
  return brotliCompressSync(Buffer.alloc(256 * MEBI, ' '), { params });
};

/** A body of 16 MiB without a byte. */
function filled(before: string, filler: string, after: string): Buffer {
  const times = Math.floor((16 * MEBI - 1000) / filler.length);
  const bytes = Buffer.from(before + filler.repeat(times) + after);
  return Buffer.concat([Buffer.from(head(`content-length: ${bytes.length}`)), bytes]);
}

const once = (bytes: () => string | Buffer) => {
  let made: string | Buffer | undefined;
  return (socket: Socket) => {
    made ??= bytes();
    socket.write(made);
  };
};

/** What the instance does with a connection, and with which statuses a look at it may end. */
const attacks: Record<string, readonly [(socket: Socket) => void, readonly number[]]> = {
  'JSON without end': [(socket) => pour(socket, spaces, head()), [1, 11]],
  'a gibibyte packed by gzip': [once(() => packed('gzip', gibibyte())), [1, 11]],
  'a quarter of one packed by brotli': [once(() => packed('br', quarter())), [1, 11]],
  'empty arrays by the million': [once(() => filled('[', '[],', '[]]')), [1, 11]],
  'objects by the million': [once(() => filled('[', '{"url_token":"a"},', '{}]')), [1, 11]],
  'a million levels': [once(() => filled('', '[', '')), [1, 11]],
  'a payload of 16 MiB': [
    once(() => filled('{"logs":[],"url":"https://x","payload":"', '\\n', '"}')),
    [0, 1, 11],
  ],
  'headers without end': [(socket) => pour(socket, 'x: y\r\n', 'HTTP/1.1 200 OK\r\n'), [11]],
  'one header without end': [(socket) => pour(socket, spaces, 'HTTP/1.1 200 OK\r\nx: '), [11]],
  'interim answers without end': [
    (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
    [11],
  ],
  'a length that is too long': [(socket) => socket.end(`${head('content-length: 99')}{}`), [11]],
  'a length that is too short': [
    (socket) => socket.end(`${head('content-length: 2')}${RETRIEVED}`),
    [1, 11],
  ],
  'two lengths': [
    (socket) => socket.end(`${head('content-length: 2', 'content-length: 3')}{}`),
    [11],
  ],
  'a negative length': [(socket) => socket.end(`${head('content-length: -1')}{}`), [11]],
  'chunks of nonsense': [
    (socket) => socket.end(`${head('transfer-encoding: chunked')}zz\r\n{}\r\n`),
    [11],
  ],
  'a chunk without end': [
    (socket) => pour(socket, spaces, `${head('transfer-encoding: chunked')}ffffffffffff\r\n`),
    [1, 11],
  ],
  'gzip that is none': [
    (socket) => socket.end(packed('gzip', Buffer.from('\u001f\u008bnonsense', 'latin1'))),
    [1, 11],
  ],
  'bytes that are no UTF-8': [
    (socket) => socket.end(`${head('content-length: 3')}\u00ff\u00fe\u0000`, 'latin1'),
    [1, 11],
  ],
  'a head that does not end': [(socket) => socket.write('HTTP/1.1 200 OK\r\nx: y'), [11]],
  'a body that stops': [(socket) => socket.write(`${head('content-length: 9')}{`), [11]],
  'armor of short lines': [
    once(() => {
      const [before = '', after = ''] = RETRIEVED.split('hunter2');
      const armor = ['-----BEGIN AGE ENCRYPTED FILE-----\\n', '-----END AGE ENCRYPTED FILE-----'];
      return filled(`${before}${armor[0]}`, 'A\\n', `${armor[1]}${after}`);
    }),
    [1, 11],
  ],
};

/** These fail at the frame or the size of the response, before the commands differ: each meets one of them, in turn. */
const framing =
  /^(JSON|a gibi|a quarter|headers|one header|interim|a length|two|a negative|chunks|a chunk|gzip|a head|a body)/;

const measurable = allOf(onLinux, needsPrograms('perl'));

describe('an instance that attacks', alsoBinary, () => {
  /** What each command took at most, in MiB. */
  const peaks: [command: string, mebibytes: number][] = [];

  test.each(partOf(Object.entries(attacks), 0, 4))('%s', async (what, [talk, codes]) => {
    const instance = await rawServer(talk);
    const meet = async (...words: string[]) => {
      const peak = join(somebody.folder, `peak-of-${words[0]}`);
      const env = {
        ...somebody.env,
        PWPUSH_URL: instance.url,
        PWPUSH_TIMEOUT: '2',
      };
      const by = measurable.skip ? undefined : measured(peak);
      const { code, stderr } = await pwpush(words, { env, by });
      expect(codes).toContain(code);
      expect(stderr).not.toMatch(/^\s+at |internal error/m);
      if (by) peaks.push([`${words[0]}: ${what}`, Number(readFileSync(peak, 'utf8')) / 1024]);
    };
    // In a short run one command meets each attack, in turn.
    const turn = Object.keys(attacks).indexOf(what);
    const both = [['get', 'abc'], ['list']];
    const commands = framing.test(what) ? both.slice(turn % 2).slice(0, 1) : partOf(both, turn);
    await Promise.all(commands.map((words) => meet(...words)));
    await instance.close();
  });

  test('makes no command take 200 MiB (needs perl)', measurable, () => {
    expect(peaks).not.toEqual([]);
    expect(peaks.filter(([, mebibytes]) => mebibytes >= 200)).toEqual([]);
  });
});
