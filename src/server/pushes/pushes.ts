import { sealedWith } from '../../age/sealed-with';
import type { Owner } from '../owners/owners';
import { isOwn, mayExpire, notOwn, type Visitor } from '../rules/access';
import type { Upload } from '../rules/files';
import { isEqual } from '../rules/key-proofs';
import { keyedView } from '../rules/once';
import type { PushWithNote } from '../rules/records';
import { type Opener, Views } from '../rules/views';
import { type Counts, countActive, type PushRow } from '../store/push-rows';
import { schemaOf, sentOf, validatePush } from './new-push';

/** A visitor who expires a push, with the proof that they may view it or have seen it. */
interface Expirer extends Omit<Opener, 'reserve'> {
  /** The `deletionKey` from the page of the push, which proves that the visitor saw the push. */
  readonly seen?: string | undefined;
}

/** The rules of pushes. Must not depend on HTTP or SQL. */
export class Pushes extends Views {
  protected readonly what = 'push';

  /**
   * Validates and stores a new push with its files.
   * @throws ServiceRefusal with messages by field
   */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    const { bounds } = this.options;
    const valid = validatePush(input, bounds, upload?.fileCount);
    const { payload, note, passphrase, lifetime, key_proof: keyProof, ...fields } = valid;
    // Not awaited, so that the input can be freed while the passphrase waits to be hashed.
    return this.make({
      call: 'create push',
      sent: sentOf(input, schemaOf(bounds, upload !== undefined)),
      row: { ...fields, sealed_with: sealedWith(payload) ?? null },
      lifetime,
      texts: { payload, note, passphrase, keyProof },
      visitor,
      upload,
    });
  }

  /** Whether the visitor has retrieved the push with the same `Idempotency-Key`. */
  async isRepeated({ lookup }: PushRow, visitor: Visitor): Promise<boolean> {
    const { database, now } = this.options;
    return (await keyedView(visitor, lookup)?.isTaken(database.sql, now())) ?? false;
  }

  /**
   * Expires a push and destroys its secret; an expired push stays as it is. Viewers need the key and passphrase, or
   * `seen`.
   * @throws ServiceRefusal when there is no push, when viewers may not expire it, or when key or passphrase are wrong
   */
  async expire(expirer: Expirer): Promise<PushRow> {
    const { urlToken, visitor } = expirer;
    const push = await this.find(urlToken);
    const permitted = mayExpire(push, visitor);
    const may = permitted && (await this.couldView(push, expirer));
    await this.end(push, visitor, may);
    if (!permitted) throw notOwn(visitor, 'That push is not deletable by viewers.');
    return this.find(urlToken);
  }

  /** Proves that its holder has seen the push, and so may expire it if viewers may. */
  deletionKey({ url_token }: PushRow): string {
    return this.options.vault.deletionKey(url_token);
  }

  /**
   * Whether the visitor could view the push. An expired push has no passphrase to check, so viewers of a protected one
   * need `seen`: `end` also deletes its kept views and files.
   * @throws ServiceRefusal as `retrieve` does for a wrong key or passphrase
   */
  private async couldView(push: PushRow, { visitor, passphrase, seen }: Expirer): Promise<boolean> {
    if (isOwn(push, visitor)) return true;
    if (seen !== undefined && isEqual(seen, this.deletionKey(push))) return true;
    await this.proofs.check(push, visitor);
    const key = await this.passphrases.keyOf(push, visitor, passphrase);
    return this.proofs.isProved(push, visitor) && (push.protected === 0 || key !== undefined);
  }

  /** Returns pushes newest first. Only active ones have notes. */
  list(owner: Owner, state: 'active' | 'expired', page: number): Promise<PushWithNote[]> {
    return this.listRecords(owner, { listed: 'push', ended: state === 'expired' }, page);
  }

  /** Takes 30 ms for a million rows, as the numbers are read from an index. */
  countActive(): Promise<Counts> {
    return countActive(this.options.database.sql, this.options.now());
  }
}
