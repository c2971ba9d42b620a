import { busy } from './refusal';

/** Bytes of unfinished bodies that are held at once, over all requests. */
const ALL = 64 * 1024 * 1024;
/** What does not count of each: whoever fills the room with large bodies keeps nobody from pushing a password. */
const SMALL = 64 * 1024;
let all = 0;

/** How much is held of one body; to be let go in any case. */
export class Held {
  private bytes = 0;

  /** Throws a `Refusal` where that is too much with all that is held of others. */
  add(bytes: number): void {
    const before = this.counted;
    this.bytes += bytes;
    all += this.counted - before;
    if (this.counted > 0 && all > ALL) {
      throw busy('Too much is being received at once. Try again later.');
    }
  }

  letGo(): void {
    all -= this.counted;
    this.bytes = 0;
  }

  private get counted(): number {
    return Math.max(0, this.bytes - SMALL);
  }
}

const BLOCK = 64 * 1024;

/** Bytes that come bit by bit. They are copied: kept as they come, each bit of one byte would take 300. */
export class Gathered {
  size = 0;
  private readonly blocks: Buffer[] = [];
  /** What is left of the last block. */
  private room: Uint8Array = new Uint8Array();

  add(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.room.length === 0) this.grow(chunk.length - from);
      const part = chunk.subarray(from, from + this.room.length);
      this.room.set(part);
      this.room = this.room.subarray(part.length);
      from += part.length;
    }
    this.size += chunk.length;
  }

  whole(): Buffer {
    return Buffer.concat(this.blocks, this.size);
  }

  private grow(wanted: number): void {
    const block = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(wanted, this.size, 1024)));
    this.blocks.push(block);
    this.room = block;
  }
}
