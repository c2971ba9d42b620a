import { randomBytes } from 'node:crypto';

export interface Attachment {
  readonly name: string;
  /** The name in messages, if the user knows the file by another name than `name`. */
  readonly shownAs?: string;
  readonly type: string;
  /** In bytes; `bytes` yields exactly this number, or throws. */
  readonly size: number;
  /** Each call reads the file from its beginning. */
  bytes(): AsyncIterable<Uint8Array>;
}

export type FormBody = ReturnType<typeof formBody>;

/**
 * Encodes an object of the API and its files as `multipart/form-data` (RFC 7578), with the field names of docs/wire.md.
 * Files are read when the body is iterated.
 * @param beside fields outside of the object
 */
export function formBody(
  object: Readonly<{ push: object } | { request: object }>,
  files: readonly Attachment[],
  boundary = `pwpush-${randomBytes(16).toString('hex')}`,
  beside: Readonly<Record<string, number>> = {},
) {
  const [[root, values] = ['', {}]] = Object.entries(object);
  const fields = [
    ...Object.entries(values).map(([name, value]) => [`${root}[${name}]`, value] as const),
    ...Object.entries(beside),
  ].filter(([, value]) => value !== undefined);
  const head = Buffer.from(
    fields.map(([name, value]) => field(boundary, name, String(value))).join(''),
  );
  const parts = files.map((file) => ({ file, head: Buffer.from(filePart(boundary, root, file)) }));
  const end = Buffer.from(`--${boundary}--\r\n`);
  const length = parts.reduce(
    (sum, part) => sum + part.head.length + part.file.size + LINE_END.length,
    head.length + end.length,
  );
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    length,
    files,
    async *[Symbol.asyncIterator]() {
      let between = head;
      for (const part of parts) {
        yield Buffer.concat([between, part.head]);
        yield* part.file.bytes();
        between = LINE_END;
      }
      yield Buffer.concat([between, end]);
    },
  };
}

const LINE_END = Buffer.from('\r\n');

function field(boundary: string, name: string, value: string): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

function filePart(boundary: string, root: string, { name, type }: Attachment): string {
  return `--${boundary}\r\nContent-Disposition: form-data; name="${root}[files][]"; filename="${quoted(name)}"\r\nContent-Type: ${type}\r\n\r\n`;
}

/** Escapes a file name as browsers do (HTML, 4.10.21.8). */
function quoted(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}
