import { randomBytes } from 'node:crypto';
import { limits } from '../api/contract';
import { Aside } from './aside';
import { claim } from './claim';
import { type Bounds, type Creation, readCreation } from './creation';
import type { Files, OfferedFile } from './files';
import type { Owner } from './owners';
import { abandoned, notFound, Refusal } from './refusal';
import * as audit from './store/audit';
import { dropFiles } from './store/files';
import type { PushRow } from './store/pushes';
import * as store from './store/pushes';
import type { Database } from './store/sql';
import type { Tally } from './tally';
import { unlock } from './unlock';
import type { Upload } from './upload';
import type { Vault } from './vault';

export type { PushRow };

/** Who asks, and from where. */
export interface Visitor extends audit.Origin {
  readonly owner: Owner | undefined;
  /** Ends when they have left. */
  readonly signal?: AbortSignal | undefined;
  /** Whose share of the passphrase checks they take; nothing without shares. */
  readonly client?: string | undefined;
}

export interface Retrieved {
  readonly push: PushRow;
  /** null when the push has expired. */
  readonly payload: string | null;
  readonly files: readonly OfferedFile[];
}

export interface Noted {
  readonly push: PushRow;
  readonly note: string;
}

const DAY = 86_400_000;
/** What a sweep ends in one transaction: with SQLite nobody else is answered until a push's gigabyte is overwritten. */
const SWEEP: readonly store.Batch[] = [
  { files: 0, most: 100 },
  { files: 1, most: 1 },
];

/** The rules of pushes: who may do what, what a view costs, when a secret goes. Knows no HTTP and no SQL. */
export class Pushes {
  private readonly aside = new Aside();

  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
    private readonly files: Files,
    private readonly bounds: Bounds,
    private readonly clock: () => Date,
    private readonly tally: Tally,
  ) {}

  /** Begins to take in the files of a push that `create` gets later; discard it in any case. */
  upload(): Upload {
    return this.files.upload(newUrlToken());
  }

  /** Checks and keeps a new push with its files; throws a `Refusal` with messages by field. */
  async create(input: object, visitor: Visitor, upload?: Upload): Promise<Noted> {
    // Apart, so that nothing holds the input while the passphrase waits.
    return this.keep(readCreation(input, this.bounds, upload?.fileCount), visitor, upload);
  }

  private async keep(creation: Creation, visitor: Visitor, upload?: Upload): Promise<Noted> {
    const { payload, note, passphrase, ...rest } = creation;
    const { urlToken, key } = upload ?? { urlToken: newUrlToken() };
    const push = await this.vault.keys.withKeys(async () => {
      const waiter = visitor;
      const secret = await this.vault.seal({ urlToken, key, payload, note, passphrase, waiter });
      const now = this.now();
      const row: store.NewPushRow = {
        ...rest,
        url_token: urlToken,
        owner_id: visitor.owner?.id ?? null,
        deletable_by_viewer: Number(rest.deletable_by_viewer),
        retrieval_step: Number(rest.retrieval_step),
        protected: Number(passphrase !== ''),
        created_at: now,
        expires_at: now + rest.expire_after_days * DAY,
      };
      return this.insert(row, secret, visitor, upload);
    });
    this.tally.created(push.kind);
    return { push, note };
  }

  /** The push as it is, without its secret; takes no view. */
  async find(urlToken: string): Promise<PushRow> {
    const row = await store.findPush(this.database.sql, urlToken);
    const push = row && settled(row, this.now());
    // Of files, in truth; but one that never was must take as long to find as one that has expired.
    if (!push || push.expired_at !== null) await this.files.dropOverdue();
    if (!push) throw notFound();
    return push;
  }

  /** Notes a look at a push that has expired, a moment later: the answer must not take longer than for one that never was. */
  missed({ url_token }: PushRow, visitor: Visitor): void {
    this.aside.do(() => this.retrieve(url_token, { ...visitor, signal: undefined }, ''));
  }

  /** Resolves when what was to be noted is noted. */
  finish(): Promise<void> {
    return this.aside.finish();
  }

  /**
   * Takes a view, unless the owner looks, and answers the payload and where the files are; after the last view the
   * secret is gone, and the files when the links have run out. A push that has expired is answered without either.
   * `hold` is told how many bytes the payload takes in memory; when it throws, no view is taken. Throws a `Refusal`
   * for the passphrase.
   */
  async retrieve(
    urlToken: string,
    visitor: Visitor,
    passphrase: string,
    hold: (bytes: number) => void = () => {},
  ): Promise<Retrieved> {
    const push = await this.find(urlToken);
    const { database, vault, tally } = this;
    const now = () => this.now();
    const { key, claimed, secret, files, ended, own } = await vault.keys.withKeys(async () => {
      const key = await unlock({ database, vault, now, tally }, push, visitor, passphrase);
      const taken = await database.transaction(
        async (sql) => {
          if (visitor.signal?.aborted) throw abandoned();
          const taken = await claim(sql, push, visitor, now());
          // What cannot be opened here takes no view.
          if (taken.secret) vault.keys.get(taken.secret.key_id);
          // A link stands twice in its page.
          if (taken.secret?.payload) hold(2 * taken.secret.payload.length);
          return taken;
        },
        { long: push.kind === 'file' && push.expired_at !== null },
      );
      return { ...taken, key };
    });
    if (ended) tally.expired(secret ? 'views' : 'time');
    if (secret) tally.viewed(own ? 'owner' : 'viewer');
    else tally.missed();
    if (ended) await database.scrub();
    if (!secret) return { push: settled(claimed, now()), payload: null, files: [] };
    return {
      push: claimed,
      payload: vault.openPayload(urlToken, secret, key),
      files: this.files.offer(urlToken, vault.openKey(urlToken, secret, key), files),
    };
  }

  /** Ends a push and destroys its secret; one that has ended stays as it is. */
  async expire(urlToken: string, visitor: Visitor): Promise<PushRow> {
    const push = await this.find(urlToken);
    if (push.expired_at !== null) await this.endIfDue(push);
    if (!mayExpire(push, visitor)) {
      throw new Refusal('forbidden', 'That push is not deletable by viewers.');
    }
    if (push.expired_at !== null) {
      // What the last view left behind; anything else has gone.
      const dropped = await this.database.transaction((sql) => dropFiles(sql, push.id), {
        long: push.kind === 'file',
      });
      if (dropped) await this.database.scrub();
      return push;
    }
    const ended = await this.database.transaction(
      async (sql) => {
        const now = this.now();
        const row = await store.endPush(sql, push.id, now, 1);
        if (row) await audit.recordEvent(sql, push.id, 'expire', visitor, now);
        return row;
      },
      { long: push.kind === 'file' },
    );
    if (ended) this.tally.expired('deleted');
    await this.database.scrub();
    return ended ?? this.find(urlToken);
  }

  /** An owner's active pushes with their notes, newest first. */
  async listActive(owner: Owner, page: number): Promise<Noted[]> {
    return this.vault.keys.withKeys(async () => {
      const rows = await store.listActive(this.database.sql, owner.id, this.now(), pageOf(page));
      return rows.map(({ key_id, note_key, note, ...push }) => ({
        push,
        note: this.vault.openNote(push.url_token, { key_id, note_key, note }),
      }));
    });
  }

  /** An owner's expired pushes, newest first; their notes are gone. */
  async listExpired(owner: Owner, page: number): Promise<Noted[]> {
    const now = this.now();
    const rows = await store.listExpired(this.database.sql, owner.id, now, pageOf(page));
    return rows.map((push) => ({ push: settled(push, now), note: '' }));
  }

  /** What happened to an owner's push, oldest first. */
  async audit(urlToken: string, owner: Owner, page: number): Promise<audit.AuditRow[]> {
    const push = await this.find(urlToken);
    if (push.owner_id !== owner.id) throw new Refusal('forbidden', 'That push is not yours.');
    return audit.listEvents(this.database.sql, push.id, pageOf(page));
  }

  /** How many pushes are active; reads an index, 30 ms for a million. */
  countActive(): Promise<number> {
    return store.countActive(this.database.sql, this.now());
  }

  /** Destroys the secrets of pushes whose time has passed; answers how many there were. Hears of new instance keys. */
  async sweep(): Promise<number> {
    await this.vault.keys.refresh();
    const now = this.now();
    let ended = 0;
    for (const batch of SWEEP) {
      for (let done = batch.most; done === batch.most; ended += done) {
        done = await this.database.exclusively((sql) => store.endDue(sql, now, batch));
      }
    }
    this.tally.expired('time', ended);
    await this.files.sweep();
    await audit.deleteTriesBefore(this.database.sql, now - 60_000);
    await audit.deleteTriesAfter(this.database.sql, now + 60_000);
    await this.database.scrub();
    return ended;
  }

  /** A push that reads as expired may still have its secret, until the sweep or somebody comes by. */
  private async endIfDue({ id, kind, expires_at }: PushRow): Promise<void> {
    const { database } = this;
    const ended = await database.transaction((sql) => store.endPush(sql, id, expires_at, 0), {
      long: kind === 'file',
    });
    if (ended) this.tally.expired('time');
    if (ended) await database.scrub();
  }

  private insert(
    row: store.NewPushRow,
    secret: store.SecretRow,
    visitor: Visitor,
    upload: Upload | undefined,
  ): Promise<PushRow> {
    return this.database.transaction(async (sql) => {
      // Nobody would ever learn of this push, nor expire it.
      if (visitor.signal?.aborted) throw abandoned();
      const inserted = await store.insertPush(sql, row, secret);
      await audit.recordEvent(sql, inserted.id, 'creation', visitor, row.created_at);
      await upload?.keep(sql, inserted.id);
      return inserted;
    });
  }

  private now(): number {
    return this.clock().getTime();
  }
}

/** Whether this visitor may end the push; a viewer may never end a URL push. */
export function mayExpire(push: PushRow, { owner }: Visitor): boolean {
  if (owner && push.owner_id === owner.id) return true;
  return push.kind !== 'url' && push.deletable_by_viewer === 1;
}

/** Days, begun ones whole; never below 0. */
export function daysRemaining(push: PushRow, now: number): number {
  return Math.max(0, Math.ceil((push.expires_at - now) / DAY));
}

export function viewsRemaining(push: PushRow): number {
  return Math.max(0, push.expire_after_views - push.views);
}

/** A push whose time has passed reads as expired, whether or not the sweep has come by. */
function settled(push: PushRow, now: number): PushRow {
  if (push.expired_at !== null || push.expires_at > now) return push;
  return { ...push, expired_at: push.expires_at, updated_at: push.expires_at };
}

function pageOf(number: number): store.Page {
  return { number, rows: limits.rowsPerPage };
}

/** 14 random bytes; begins and ends with a letter or digit, as chat programs cut links at punctuation. */
function newUrlToken(): string {
  for (;;) {
    const token = randomBytes(14).toString('base64url').toLowerCase();
    if (/^[a-z0-9].*[a-z0-9]$/.test(token)) return token;
  }
}
