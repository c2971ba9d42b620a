/** A line of a byte stream. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its line end; undefined when it is longer than allowed. */
  readonly bytes: Buffer | undefined;
}

const LF = 0x0a;
const CR = 0x0d;

/**
 * The lines of a stream as they come, without LF or CRLF; the last one may lack its end. Of a line that is longer
 * than `longest` bytes nothing is kept.
 */
export async function* linesOf(
  stream: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<Line> {
  let number = 1;
  let pieces: Buffer[] = [];
  let length = 0;
  const add = (piece: Buffer) => {
    length += piece.length;
    if (length <= longest) pieces.push(piece);
    else pieces = [];
  };
  const take = (): Line => {
    const bytes = length > longest ? undefined : withoutReturn(Buffer.concat(pieces));
    pieces = [];
    length = 0;
    return { number: number++, bytes };
  };
  for await (const chunk of stream) {
    // A copy: whoever gave it may use its memory again.
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF)) {
      add(rest.subarray(0, end));
      yield take();
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) add(rest);
  }
  if (length > 0) yield take();
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === CR ? line.subarray(0, -1) : line;
}
