// How the load client has a secret kept and given: by our service, and by those that are measured beside it.
import { randomBytes } from 'node:crypto';
import { bearer, get, post } from './requests.mjs';

const secret = 'correct horse battery staple';
const ajax = { 'X-Requested-With': 'JSONHttpRequest' };

/** PrivateBin finds a paste by its ciphertext, so each has one of its own; it refuses what random bytes would not be. */
const paste = () => ({
  v: 2,
  adata: [['MTIzNDU2Nzg5MDEy', 'MTIzNDU2Nzg', 100_000, 256, 128, 'aes', 'gcm', 'none'], 'plaintext', 0, 1],
  ct: randomBytes(44).toString('base64'),
  meta: { expire: '1week' },
});

const bodyOf = (views) => JSON.stringify({ push: { payload: secret, expire_after_views: views } });
const bodies = { 1: bodyOf(1), 100: bodyOf(100) };
const creation = (views, fields) => post('/api/v2/pushes', bodies[views], fields);
const creations = { 1: creation(1), 100: creation(100) };
const keys = randomBytes(16).toString('base64url');
let used = 0;
// Cheap to make, as the service hashes them: random ones took the client up to a tenth of the time.
const withKey = () => {
  used += 1;
  return { 'Idempotency-Key': `"${keys}${used}"` };
};

/** `create` and `take` make requests; `id` is the field that names a secret, and `given` stands only in the response that has it. */
export const kinds = {
  pwpush: {
    create: (views) => creations[views],
    id: 'url_token',
    take: (id) => get(`/api/v2/pushes/${id}`),
    given: secret,
  },
  /** Ours, with an `Idempotency-Key` in each request, as our client sends them. */
  keys: {
    create: (views) => creation(views, withKey()),
    id: 'url_token',
    take: (id) => get(`/api/v2/pushes/${id}`, withKey()),
    given: secret,
  },
  /** Ours, by the owner of all pushes, who reads them without using a view: `process.argv` has the token. */
  owner: {
    create: (views) => creation(views, bearer(process.argv[3])),
    id: 'url_token',
    take: (id) => get(`/api/v2/pushes/${id}`, bearer(process.argv[3])),
    given: secret,
  },
  snappass: {
    create: () => post('/api/v2/passwords', JSON.stringify({ password: secret })),
    id: 'token',
    take: (id) => get(`/api/v2/passwords/${id}`),
    given: secret,
  },
  PrivateBin: {
    create: () => post('/', JSON.stringify(paste()), ajax),
    id: 'id',
    take: (id) => get(`/?pasteid=${id}`, ajax),
    given: '"ct":',
  },
};
