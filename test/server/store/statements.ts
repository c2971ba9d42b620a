import * as audit from '../../../src/server/store/audit-rows';
import * as files from '../../../src/server/store/file-rows';
import * as kept from '../../../src/server/store/kept-rows';
import * as keys from '../../../src/server/store/key-rows';
import * as listings from '../../../src/server/store/listing-rows';
import * as owners from '../../../src/server/store/owner-rows';
import * as pushes from '../../../src/server/store/push-rows';
import type { Sql } from '../../../src/server/store/sql';

const rooms = { audit, files, kept, keys, listings, owners, pushes };

/** The names of all that the store can do. */
export const operations = Object.entries(rooms).flatMap(([room, all]) =>
  Object.entries(all).flatMap(([name, one]) =>
    typeof one === 'function' ? `${room}.${name}` : [],
  ),
);

const NOW = Date.UTC(2026, 7, 20);
const bytes = Buffer.alloc(60);
const TRIES: audit.Tries = { pushId: 1, whose: 'others' };
const from = { ip: null, userAgent: null, referrer: null };
const secret = {
  key_id: 'old',
  data_key: bytes,
  payload: bytes,
  note_key: null,
  note: null,
  salt: null,
  cost: null,
  verifier: null,
};

/** Each of them, once, in an order in which there is something to find. */
export const calls: Record<string, (sql: Sql) => Promise<unknown>> = {
  'keys.insertKey': async (sql) => {
    await keys.insertKey(sql, 'old');
    await keys.insertKey(sql, 'new');
  },
  'keys.findKey': (sql) => keys.findKey(sql),
  'owners.insertOwner': (sql) => owners.insertOwner(sql, 'ann', NOW),
  'owners.findOwner': (sql) => owners.findOwner(sql, 'ann'),
  'owners.findOwnerById': (sql) => owners.findOwnerById(sql, 1),
  'owners.insertToken': (sql) => owners.insertToken(sql, 1, { selector: 'x', digest: bytes }, NOW),
  'owners.findTokens': (sql) => owners.findTokens(sql, 'x'),
  'owners.touchToken': (sql) => owners.touchToken(sql, 1, NOW),
  'owners.listOwners': (sql) => owners.listOwners(sql),
  'owners.deleteTokens': (sql) => owners.deleteTokens(sql, 'ann'),
  'pushes.insertPush': (sql) => insertPush(sql, 'first', NOW + 1),
  'pushes.findPush': (sql) => pushes.findPush(sql, 'first'),
  'pushes.findSecret': (sql) => pushes.findSecret(sql, 1),
  'keys.listSealedKeys': (sql) => keys.listSealedKeys(sql, 0, 10),
  'keys.replaceSealed': (sql) => keys.replaceSealed(sql, 1, secret, 'new'),
  'keys.insertLinkKey': (sql) => keys.insertLinkKey(sql, bytes, 'old'),
  'keys.listLinkKeys': (sql) => keys.listLinkKeys(sql),
  'keys.replaceLinkKey': (sql) =>
    keys.replaceLinkKey(sql, { number: 1, sealed: bytes, key_id: 'new' }),
  'keys.deleteKey': (sql) => keys.deleteKey(sql, 'unused'),
  'pushes.countActive': (sql) => pushes.countActive(sql, NOW),
  'pushes.lockPush': (sql) => pushes.lockPush(sql, 1),
  'pushes.takeView': (sql) => pushes.takeView(sql, { id: 1 } as pushes.StoredPush, NOW),
  'pushes.findActive': (sql) => pushes.findActive(sql, { id: 1 }, NOW),
  'pushes.lockActive': (sql) => pushes.lockActive(sql, { id: 1 }, NOW),
  'listings.listRecords': async (sql) => {
    for (const listed of ['push', 'request', 'open', 'ready'] as const)
      for (const ended of [false, true]) {
        const which = { ownerId: 1, listed, ended };
        await listings.listRecords(sql, which, NOW, { rows: 50, number: 2 });
      }
  },
  'pushes.keepAnswer': (sql) => pushes.keepAnswer(sql, 1, 1, NOW),
  'audit.recordEvent': (sql) => audit.recordEvent(sql, { pushId: 1, kind: 'view', from, at: NOW }),
  'audit.recordRepeated': (sql) =>
    audit.recordRepeated(sql, { pushId: 1, kind: 'failed_view', from, at: NOW }, 9),
  'audit.listEvents': (sql) => audit.listEvents(sql, 1, { rows: 50, number: 2 }),
  'audit.insertTry': (sql) => audit.insertTry(sql, TRIES, NOW),
  'audit.listTries': (sql) => audit.listTries(sql, TRIES, NOW - 1, NOW + 1),
  'audit.deleteTry': (sql) => audit.deleteTry(sql, 1),
  'audit.deleteTries': (sql) => audit.deleteTries(sql, NOW, 2 * NOW),
  'files.insertUpload': (sql) => files.insertUpload(sql, NOW),
  'files.touchUpload': (sql) => files.touchUpload(sql, 1, NOW),
  'files.insertChunks': (sql) =>
    files.insertChunks(sql, 1, [{ position: 0, number: 0, sealed: bytes }]),
  'files.keepUpload': (sql) => files.keepUpload(sql, 1, 1, [{ position: 0, header: bytes }]),
  'files.listFiles': (sql) => files.listFiles(sql, 1),
  'files.findFile': (sql) => files.findFile(sql, 1, 0, NOW),
  'files.findChunk': (sql) => files.findChunk(sql, 1, 0, 0),
  'pushes.findById': (sql) => pushes.findById(sql, 1),
  'kept.keep': (sql) =>
    kept.keep(sql, {
      ...{ key_hash: 'x', push_id: 1, digest: bytes, sealed: bytes, kept_at: NOW, until: NOW },
    }),
  'kept.findKept': (sql) => kept.findKept(sql, 'x', NOW),
  'kept.forgetResponse': (sql) => kept.forgetResponse(sql, 'x'),
  'kept.forgetKept': (sql) => kept.forgetKept(sql, 1, NOW),
  'kept.deleteKept': (sql) => kept.deleteKept(sql, NOW),
  'pushes.takeSecret': (sql) =>
    pushes.takeSecret(sql, { id: 1, protected: 1 } as pushes.StoredPush),
  'files.keepFilesUntil': (sql) => files.keepFilesUntil(sql, 1, NOW),
  'files.listEnded': (sql) => files.listEnded(sql, NOW),
  'files.endFiles': (sql) => files.endFiles(sql, 1),
  'pushes.endPush': async (sql) => {
    await insertPush(sql, 'second', NOW);
    return pushes.endPush(sql, 2, NOW, 1);
  },
  'pushes.listDue': async (sql) => {
    await insertPush(sql, 'third', NOW);
    return pushes.listDue(sql, NOW, { id: 0, expires_at: -1 }, 10);
  },
  'pushes.listEndedBefore': (sql) => pushes.listEndedBefore(sql, NOW, 10),
  'pushes.dropPush': (sql) => pushes.dropPush(sql, 2),
  'files.abandonUpload': async (sql) => {
    await files.insertUpload(sql, NOW);
    return files.abandonUpload(sql, 2);
  },
  'files.abandonStale': (sql) => files.abandonStale(sql, NOW),
  'files.dropPiece': (sql) => files.dropPiece(sql, 2),
};

function insertPush(sql: Sql, lookup: string, expires_at: number) {
  const push = {
    lookup,
    sealed_token: bytes,
    link_key: 1,
    owner_id: 1,
    kind: 'text' as const,
    name: '',
    expire_after_days: 1,
    expire_after_views: 1,
    views: 0,
    deletable_by_viewer: true,
    retrieval_step: false,
    protected: false,
    deleted: false,
    created_at: NOW,
    updated_at: NOW,
    expires_at,
    public_key: null,
    include_requestor: false,
    response_file_attachments: false,
  };
  return pushes.insertPush(sql, push, secret);
}
