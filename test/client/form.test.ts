import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Attachment, formBody } from '../../src/client/form';

const attachment = (name: string, content: string, type = 'text/plain'): Attachment => ({
  name,
  type,
  size: Buffer.byteLength(content),
  bytes: async function* () {
    yield Buffer.from(content);
  },
});

async function written(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

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
    const expected = [
      '--B',
      'Content-Disposition: form-data; name="push[payload]"',
      '',
      'two\nlines',
      '--B',
      'Content-Disposition: form-data; name="push[expire_after_days]"',
      '',
      '3',
      '--B',
      'Content-Disposition: form-data; name="push[deletable_by_viewer]"',
      '',
      'true',
      '--B',
      'Content-Disposition: form-data; name="push[retrieval_step]"',
      '',
      'false',
      '--B',
      'Content-Disposition: form-data; name="push[passphrase]"',
      '',
      'horse ü',
      '--B',
      'Content-Disposition: form-data; name="push[files][]"; filename="a.txt"',
      'Content-Type: text/plain',
      '',
      'A',
      '--B',
      'Content-Disposition: form-data; name="push[files][]"; filename="b.bin"',
      'Content-Type: application/octet-stream',
      '',
      '',
      '--B--',
      '',
    ].join('\r\n');
    expect(await written(body)).toBe(expected);
    expect(await written(body)).toBe(expected);
    expect(body.length).toBe(Buffer.byteLength(expected));
    expect(body.type).toBe('multipart/form-data; boundary=B');
  });

  test('a file alone has no payload', async () => {
    expect(await written(formBody({ push: {} }, [attachment('x', 'X', 'a/b')], 'B'))).toBe(
      '--B\r\nContent-Disposition: form-data; name="push[files][]"; filename="x"\r\nContent-Type: a/b\r\n\r\nX\r\n--B--\r\n',
    );
  });

  test('names are escaped as browsers do', async () => {
    const text = await written(formBody({ push: {} }, [attachment('ü "1"\r\n\\.txt', '')], 'B'));
    expect(text).toContain('filename="ü %221%22%0D%0A\\.txt"\r\n');
  });

  test('every form has a boundary of its own', () => {
    expect(formBody({ push: {} }, []).type).not.toBe(formBody({ push: {} }, []).type);
  });

  test('the length is that of what is written, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.array(fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))),
        async (payload, files) => {
          const body = formBody(
            { push: { payload } },
            files.map(([name, content]) => attachment(name, content)),
          );
          expect(Buffer.byteLength(await written(body))).toBe(body.length);
        },
      ),
    );
  });
});
