import { sealedWith } from '../../age/sealed-with';
import type { Owner } from '../owners/owners';
import { isOwn, mayExpire, type Visitor, viewsRemaining } from '../rules/access';
import type { Upload } from '../rules/files';
import { isEqual, ProofCheck } from '../rules/key-proofs';
import type { KeptView } from '../rules/once';
import { NOTHING, type TextWithFiles, takenOf } from '../rules/opened';
import { possiblePassphrase } from '../rules/passphrase-check';
import { type Opener, type PushWithNote, Records } from '../rules/records';
import { ServiceRefusal } from '../service-errors';
import type { PushRow } from '../store/push-rows';
import * as store from '../store/push-rows';
import { schemaOf, sentOf, validatePush } from './new-push';

/** A push with its content; without, if it has expired. */
export interface RetrievedPush extends TextWithFiles {
  readonly push: PushRow;
}

/** Who expires a push, and what shows that they could view it. */
interface Expirer extends Omit<Opener, 'reserve'> {
  /** What a page that showed the push has for it (`deletionKey`). */
  readonly seen?: string | undefined;
}

const TO_PUBLIC_KEY = 'This push is encrypted to a public key. No view was used.';

/** The rules of pushes: permissions, views, expiry. Knows no HTTP and no SQL. */
export class Pushes extends Records {
  protected readonly what = 'push';
  private readonly proofs = new ProofCheck(this.options);

  /**
   * Validates and stores a new push with its files.
   * @throws ServiceRefusal with messages by field
   */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<PushWithNote> {
    const valid = validatePush(input, this.options.bounds, upload?.fileCount);
    const { payload, note, passphrase, lifetime, key_proof, ...fields } = valid;
    const schema = schemaOf(this.options.bounds, upload !== undefined);
    const body = [...sentOf(input, schema), ...(upload?.contents ?? [])];
    const asked = { visitor, call: ['create push'], body };
    const again = async (id: number) => ({ push: await this.made(id), note });
    // It does not hold the input, which can be freed while the passphrase waits to be hashed.
    return this.once.make(asked, again, async (done) => {
      const row = {
        ...fields,
        owner_id: visitor.owner?.id ?? null,
        sealed_with: sealedWith(payload) ?? null,
        ...this.lasting(lifetime),
      };
      const texts = { payload, note, passphrase, keyProof: key_proof };
      const push = await this.store(row, texts, visitor, upload, done);
      this.options.events.created(fields.kind);
      return { push, note };
    });
  }

  protected record({ url_token }: PushRow, visitor: Visitor): Promise<unknown> {
    return this.retrieve({ urlToken: url_token, visitor, passphrase: '' });
  }

  /**
   * Takes a view, unless the visitor is the owner, and returns the payload and the links to the files. The last view
   * deletes the secret at once, and the files when the links expire, but not later than the push's days. An expired push
   * is returned without either.
   * @throws ServiceRefusal when there is no push, or for its key or its passphrase
   */
  async retrieve(opener: Opener): Promise<RetrievedPush> {
    const { urlToken, visitor, passphrase } = opener;
    const lookup = this.options.vault.keys.links.lookup(urlToken);
    const asked = { visitor, lookup, body: [possiblePassphrase(passphrase), visitor.keyProof] };
    const again = async (kept: KeptView) => {
      const row = await store.findById(this.options.database.sql, kept.push_id);
      if (!row) return undefined;
      const { views } = kept;
      const told = { ...row, views, expired_at: null, deleted: 0 as const };
      const push = { ...told, url_token: urlToken, updated_at: row.created_at };
      const content = await this.contentAgain(kept, push, opener);
      return content && { push, ...content };
    };
    return this.once.take<RetrievedPush>(asked, again, async (done) => {
      const found = this.known(urlToken, await done.find(this.options.database.sql));
      // Before the passphrase: who has no key cannot try any.
      await this.proofs.check(found, visitor);
      if (visitor.withoutIdentity && found.sealed_with === 'recipient' && found.expired_at === null)
        throw new ServiceRefusal('identity', TO_PUBLIC_KEY);
      const own = isOwn(found, visitor);
      const claim = own ? store.lockActive : store.takeView;
      const frees = found.expired_at !== null || (!own && viewsRemaining(found) <= 1);
      const event = own ? ('owner_view' as const) : ('view' as const);
      const early = own || !done.records ? event : undefined;
      const opening = { ...opener, claim, frees, done, event: early };
      const view = await this.open(found, opening, async (sql, opened, now) => {
        const { row: push, isLast: ended } = opened;
        // An owner's reading takes no view: it is done again.
        const taken = { pushId: push.id, kind: event, from: visitor, at: now };
        if (!own) await done.keep(sql, push, taken, takenOf([opened], ended));
        return { state: 'open' as const, ended, seen: { push, ...this.contentOf(opened, now) } };
      });
      const { events } = this.options;
      const isOpen = view.state === 'open';
      if (view.ended) events.expired(isOpen ? 'views' : 'time', 1, visitor.ip);
      if (isOpen) events.viewed(own ? 'owner' : 'viewer', visitor.ip);
      else events.missed();
      if (view.ended) await this.cleanUp(found);
      return isOpen ? view.seen : { push: view.row, ...NOTHING };
    });
  }

  /** Whether the visitor has retrieved the push with the same key. */
  isRepeated({ lookup }: PushRow, visitor: Visitor): Promise<boolean> {
    return this.once.isTaken(visitor, lookup);
  }

  /**
   * Expires a push and destroys its secret; an expired push stays as it is. A viewer needs what a view needs, or has seen it.
   * @throws ServiceRefusal when there is no push, or the visitor may not expire it; for its key or its passphrase
   */
  async expire(expirer: Expirer): Promise<PushRow> {
    const { urlToken, visitor } = expirer;
    const push = await this.find(urlToken);
    const permitted = mayExpire(push, visitor);
    const may = permitted && (await this.couldView(push, expirer));
    const reason = await this.end(push, 'expire', visitor, may);
    if (reason) this.options.events.expired(reason, 1, visitor.ip);
    if (!permitted) throw new ServiceRefusal('forbidden', 'That push is not deletable by viewers.');
    return this.find(urlToken);
  }

  /** Shows that its holder has seen the push, and may expire it if viewers may. */
  deletionKey({ url_token }: PushRow): string {
    return this.options.vault.deletionKey(url_token);
  }

  /**
   * Whether a visitor can view the push. Of one that has expired, which has no passphrase any more: whether nobody but those
   * who could view it has what the visitor shows. Its last response and its files may still be wanted.
   * @throws ServiceRefusal as a retrieval does
   */
  private async couldView(push: PushRow, { visitor, passphrase, seen }: Expirer): Promise<boolean> {
    if (isOwn(push, visitor)) return true;
    if (seen !== undefined && isEqual(seen, this.deletionKey(push))) return true;
    await this.proofs.check(push, visitor);
    const key = await this.passphrases.keyOf(push, visitor, passphrase);
    return this.proofs.isProved(push, visitor) && (push.protected === 0 || key !== undefined);
  }

  /** The owner's active or expired pushes with their notes, newest first. */
  list(owner: Owner, state: 'active' | 'expired', page: number): Promise<PushWithNote[]> {
    return this.listRecords(owner, { listed: 'push', ended: state === 'expired' }, page);
  }

  /** The numbers of active pushes and requests, read from an index: 30 ms for a million. */
  countActive(): Promise<store.ActiveCounts> {
    return store.countActive(this.options.database.sql, this.options.now());
  }
}
