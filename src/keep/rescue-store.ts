import { rmSync } from 'node:fs';
import { isGuarded } from '../cli/agent';
import { boundedWrite, breakLine } from '../cli/terminal/bounded-write';
import { forTerminal } from '../cli/terminal/safe';
import { left } from '../cli/terminal/wording';
import type { Push } from '../contract/decode';
import type { Context, Output } from '../platform/context';
import { attempt, CliError, phrase } from '../platform/errors';
import { describe, type Kept, type KeptPart } from './kept';
import type { RescueContext } from './rescue';

/** Returns false unless another retrieval is certain to work. */
export function isRetrievableAgain(push: Push): boolean {
  const { views_remaining: views, days_remaining: days, expired } = push;
  return typeof views === 'number' && views > 0 && days !== 0 && expired !== true;
}

/** Says why a push may not be retrievable again. */
export function whyGone(push: Push, isAnswer: boolean): string {
  if (isAnswer) return 'the answer was taken';
  return push.views_remaining === 0 ? 'no view is left' : 'the push may be gone';
}

interface Undelivered {
  readonly part: KeptPart;
  readonly bytes: string | Uint8Array;
  readonly push?: Push | undefined;
  /** The push as it was received, whose text may have been saved by `hold`. */
  readonly sealed?: Push;
  /** Names one of several pushes, such as `link 2`. */
  readonly subject?: string | undefined;
}

/** Whether a store saves for a later run, only what exists now, or nothing, as the push stays in its file. */
type Keeping = 'for-later' | 'now' | 'nothing';

export type StoreContext = RescueContext & Pick<Context, 'stderr' | 'signal' | 'guard'>;

/**
 * Saves to the state folder everything that cannot be delivered. A text that cannot be saved is printed on the
 * terminal, unless a coding agent would read it.
 */
export class RescueStore {
  /** Paths of texts that `hold` saved, by the push as it was received. */
  private readonly held = new Map<Push, string>();

  /** @param stdout takes secrets that cannot be saved; undefined if it must not have secrets */
  constructor(
    private readonly context: StoreContext,
    private readonly keeping: Keeping = 'for-later',
    private readonly stdout?: Output,
  ) {}

  get resumes(): boolean {
    return this.keeping === 'for-later';
  }

  loses(push: Push): boolean {
    return this.keeping !== 'nothing' && !isRetrievableAgain(push);
  }

  /** Saves a text, or prints it, unless its push can be retrieved again; never throws. */
  async keep({ part, bytes, push, sealed, subject }: Undelivered): Promise<readonly Kept[]> {
    if (this.keeping === 'nothing') return [];
    if (push && isRetrievableAgain(push)) {
      const rest = left(push, this.context.now()) ?? '';
      return [{ part, outcome: 'available', fact: phrase('kept-there', rest, subject ?? '') }];
    }
    const saved = (sealed && this.held.get(sealed)) ?? (await this.save(part, bytes));
    if (!(saved instanceof CliError)) return [{ part, outcome: 'saved', path: saved }];
    const to = await this.print(part, bytes);
    return [
      to ? { part, outcome: 'printed', to, why: saved } : { part, outcome: 'lost', why: saved },
    ];
  }

  async rescue(failure: CliError, text: Undelivered): Promise<CliError> {
    return describe(failure, await this.keep(text));
  }

  /** Saves the text as it was received, before work in which the run may end. */
  async hold({ push, sealed }: { readonly push: Push; readonly sealed: Push }): Promise<void> {
    if (this.held.has(sealed) || !this.loses(push)) return;
    const path = await this.save('secret', sealed.payload ?? '');
    if (!(path instanceof CliError)) this.held.set(sealed, path);
  }

  async release(sealed: Push): Promise<void> {
    const path = this.held.get(sealed);
    this.held.delete(sealed);
    if (path !== undefined) await attempt(async () => rmSync(path, { force: true }));
  }

  /**
   * Returns a new folder for files that cannot be saved where they belong.
   * @throws CliError (failed) if there is no place for it
   */
  async folder(): Promise<string> {
    return (await rescues()).rescueFolder(this.context);
  }

  private async save(part: KeptPart, bytes: Undelivered['bytes']): Promise<string | CliError> {
    const { rescue } = await rescues();
    const name = part === 'encrypted text' || part === 'new value' ? 'secret' : part;
    return attempt(() => rescue(this.context, name, bytes));
  }

  /** Returns where the text was printed; undefined if it may be shown nowhere. */
  private async print(part: KeptPart, bytes: Undelivered['bytes']): Promise<string | undefined> {
    const { stderr, signal } = this.context;
    if (await isGuarded(this.context)) return undefined;
    const text = Buffer.from(bytes as Uint8Array).toString();
    const isSecret = part !== 'link' && part !== 'text' && part !== 'key';
    for (const output of [isSecret ? this.stdout : undefined, stderr]) {
      if (!output || output.closed || (output === stderr && !stderr.isTTY)) continue;
      try {
        await boundedWrite(output, output.isTTY ? forTerminal(text) : bytes, signal);
        if (!output.isTTY && !text.endsWith('\n')) breakLine(stderr);
        return output.isTTY ? 'the terminal' : 'standard output';
      } catch {
        // The other output may take the text.
      }
    }
    return undefined;
  }
}

/** The module takes 6 ms to load, and is rarely needed. */
const rescues = () => import('./rescue');
