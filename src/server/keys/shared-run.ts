/** Work that never runs twice at once: calls during a run share the next run. */
export class SharedRun {
  private last: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when a run that started after this call has ended; rejects as it does. */
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

  /** Settles with the last run that was asked for. */
  settled(): Promise<void> {
    return this.last;
  }
}
