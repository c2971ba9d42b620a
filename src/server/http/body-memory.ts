import { busy } from '../service-errors';
import { Shares } from '../shares';

/** Bytes of each request that do not count, so that a password can be pushed while large bodies use up the budget. */
const SMALL = 16 * 1024;
/** One client gets a quarter of the budget; when less than a quarter is free, a third of what stays free. */
const SHARES = 4;

/** Limits the memory, in bytes, of bodies that are being received and responses that have not been sent. */
export class BodyBudget {
  private used = 0;
  private readonly shares = new Shares();

  constructor(private readonly most: number) {}

  /** Returns the memory of an HTTP request, which counts against the share of its client, if it has one. */
  forRequest(client: string | undefined): MemoryUse {
    return new MemoryUse((bytes) => this.change(bytes, client));
  }

  /**
   * Returns whether the budget and the share of the client still suffice. When less than a quarter of the budget is
   * free, shares shrink, so that memory stays for clients who hold little while others read slowly.
   */
  private change(bytes: number, client: string | undefined): boolean {
    this.used += bytes;
    const free = this.most - this.used;
    if (client === undefined) return free >= 0;
    const own = this.shares.add(client, bytes);
    const share = this.most / SHARES;
    return free >= share ? own <= share : own <= Math.min(share, free / (SHARES - 1));
  }
}

/** The memory that one HTTP request takes, in bytes. The caller must release it, also after an error. */
export class MemoryUse {
  private bytes = 0;

  constructor(private readonly change: (bytes: number) => boolean) {}

  get isEmpty(): boolean {
    return this.bytes === 0;
  }

  /** @throws ServiceRefusal (busy) when the budget does not suffice; the refused bytes do not count */
  add(bytes: number): void {
    if (this.count(bytes) || this.counted === 0) return;
    this.count(-bytes);
    throw busy('Too many requests are in progress. Try again later.');
  }

  release(): void {
    this.change(-this.counted);
    this.bytes = 0;
  }

  private count(bytes: number): boolean {
    const before = this.counted;
    this.bytes += bytes;
    return this.change(this.counted - before);
  }

  private get counted(): number {
    return Math.max(0, this.bytes - SMALL);
  }
}

const BLOCK = 64 * 1024;

/** Copies the chunks of a body into blocks: a chunk of one byte would keep 300 bytes of memory. */
export class Collected {
  size = 0;
  private readonly blocks: Buffer[] = [];
  /** Unused space of the last block. */
  private free: Uint8Array = new Uint8Array();

  add(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      if (this.free.length === 0) this.grow(chunk.length - from);
      const part = chunk.subarray(from, from + this.free.length);
      this.free.set(part);
      this.free = this.free.subarray(part.length);
      from += part.length;
    }
    this.size += chunk.length;
  }

  whole(): Buffer {
    return Buffer.concat(this.blocks, this.size);
  }

  private grow(needed: number): void {
    const block = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(needed, this.size, 1024)));
    this.blocks.push(block);
    this.free = block;
  }
}
