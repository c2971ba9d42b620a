import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Attachment, formBody } from '../../src/client/form';
import { joined } from '../helpers/age';

const attachment = (name: string, content: string, type = 'text/plain'): Attachment => ({
  name,
  type,
  size: Buffer.byteLength(content),
  bytes: async function* () {
    yield Buffer.from(content);
  },
});

const written = async (body: AsyncIterable<Uint8Array>) => `${await joined(body)}`;

describe('a push with files, as docs/wire.md has it', () => {
  test('fields, then files, to the byte', async () => {
    const push = {
      payload: 'two\nlines',
      expire_after_days: 3,
      deletable_by_viewer: true,
      retrieval_step: false,
      passphrase: 'horse ü',
    };
    const files = [attachment('a.txt', 'A'), attachment('b.bin', '', 'application/octet-stream')];
    const body = formBody({ push }, files, 'B');
    const field = (name: string, value: string) =>
      `--B\r\nContent-Disposition: form-data; name="push[${name}]"\r\n\r\n${value}\r\n`;
    const file = (name: string, type: string, content: string) =>
      `--B\r\nContent-Disposition: form-data; name="push[files][]"; filename="${name}"\r\n` +
      `Content-Type: ${type}\r\n\r\n${content}\r\n`;
    const expected = [
      field('payload', 'two\nlines'),
      field('expire_after_days', '3'),
      field('deletable_by_viewer', 'true'),
      field('retrieval_step', 'false'),
      field('passphrase', 'horse ü'),
      file('a.txt', 'text/plain', 'A'),
      file('b.bin', 'application/octet-stream', ''),
      '--B--\r\n',
    ].join('');
    expect(await written(body)).toBe(expected);
    expect(await written(body)).toBe(expected);
    expect(body.length).toBe(Buffer.byteLength(expected));
    expect(body.type).toBe('multipart/form-data; boundary=B');
    const alone = formBody({ push: {} }, [attachment('x', 'X', 'a/b')], 'B');
    expect(await written(alone)).toBe(`${file('x', 'a/b', 'X')}--B--\r\n`);
  });

  test('names are escaped as browsers do', async () => {
    const text = await written(formBody({ push: {} }, [attachment('ü "1"\r\n\\.txt', '')], 'B'));
    expect(text).toContain('filename="ü %221%22%0D%0A\\.txt"\r\n');
  });

  test('every form has a boundary of its own', () => {
    expect(formBody({ push: {} }, []).type).not.toBe(formBody({ push: {} }, []).type);
  });

  test('the length is that of what is written, whatever is in it', async () => {
    const any = fc.string({ unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(any, fc.array(fc.tuple(any, any)), async (payload, files) => {
        const attached = files.map(([name, content]) => attachment(name, content));
        const body = formBody({ push: { payload } }, attached);
        expect(Buffer.byteLength(await written(body))).toBe(body.length);
      }),
    );
  });
});
