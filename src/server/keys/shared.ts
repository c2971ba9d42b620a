/** Work of which one run is under way at most: whoever asks meanwhile shares the next one. */
export class Shared {
  private last: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  run(): Promise<void> {
    this.next ??= this.last
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.work();
      });
    this.last = this.next;
    return this.next;
  }

  /** Resolves when what was asked for is done. */
  settled(): Promise<void> {
    return this.last;
  }
}
