import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { constants, deflateRawSync } from 'node:zlib';
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

/** One stream; packing the same mebibyte again and again would take seconds. Nobody gets to see that its end is missing. */
const gibibyte = () => {
  const mebibyte = deflateRawSync(spaces, { finishFlush: constants.Z_FULL_FLUSH });
  const start = Buffer.from('1f8b08000000000000ff', 'hex');
  const length = start.length + 1024 * mebibyte.length;
  return Buffer.concat([
    Buffer.from(head('content-encoding: gzip', `content-length: ${length}`)),
    start,
    ...Array<Buffer>(1024).fill(mebibyte),
  ]);
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

const attacks: Record<string, (socket: Socket) => unknown> = {
  'JSON without end': (socket) => pour(socket, spaces, head()),
  'a gibibyte packed by gzip': once(gibibyte),
  'empty arrays by the million': once(() => filled('[', '[],', '[]]')),
  'a million levels': once(() => filled('', '[', '')),
  'a payload of 16 MiB': once(() => filled('{"logs":[],"url":"https://x","payload":"', '\\n', '"}')),
  'headers without end': (socket) => pour(socket, 'x: y\r\n', 'HTTP/1.1 200 OK\r\n'),
  'one header without end': (socket) => pour(socket, spaces, 'HTTP/1.1 200 OK\r\nx: '),
  'interim answers without end': (socket) => pour(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
  'a chunk without end': (socket) => pour(socket, spaces, `${head('transfer-encoding: chunked')}ffffffffffff\r\n`),
  'armor of short lines': once(() => {
    const [before = '', after = ''] = RETRIEVED.split('hunter2');
    const armor = ['-----BEGIN AGE ENCRYPTED FILE-----\\n', '-----END AGE ENCRYPTED FILE-----'];
    return filled(`${before}${armor[0]}`, 'A\\n', `${armor[1]}${after}`);
  }),
};

/** These are no response at all. */
const broken = /^(headers|one header|interim)/;

const measurable = allOf(onLinux, needsPrograms('perl'));

describe('an instance that attacks', alsoBinary, () => {
  /** What each command took at most, in MiB. */
  const peaks: [command: string, mebibytes: number][] = [];

  test.each(partOf(Object.entries(attacks), 0, 4))('%s', async (what, talk) => {
    const instance = await rawServer(talk);
    // In a short run one of both.
    for (const words of partOf([['get', 'abc'], ['list']], Object.keys(attacks).indexOf(what))) {
      const peak = join(somebody.folder, `peak-of-${words[0]}`);
      const env = { ...somebody.env, PWPUSH_URL: instance.url, PWPUSH_TIMEOUT: '2' };
      const by = measurable.skip ? undefined : measured(peak);
      const { code, stderr } = await pwpush(words, { env, by });
      expect(broken.test(what) ? [11] : what === 'a payload of 16 MiB' ? [0, 1, 11] : [1, 11]).toContain(code);
      expect(stderr).not.toMatch(/^\s+at |internal error/m);
      if (by) peaks.push([`${words[0]}: ${what}`, Number(readFileSync(peak, 'utf8')) / 1024]);
    }
    await instance.close();
  });

  test('makes no command take 200 MiB (needs perl)', measurable, () => {
    expect(peaks).not.toEqual([]);
    expect(peaks.filter(([, mebibytes]) => mebibytes >= 200)).toEqual([]);
  });
});
