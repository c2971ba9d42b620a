/**
 * A difference from the recorded server that is meant to be, as the test spells it: what that answers → what ours does. The
 * recorded requests may, and must, be answered so; `any` where one is enough.
 */
type Decided = readonly [differences: readonly string[], steps: readonly string[] | 'any'];

const VERSIONS = ['version', 'version bad token', 'version, with mail'];

const both = (...names: string[]) =>
  names.flatMap((name) => [`create ${name} anonymous`, `create ${name} owner`]);

/** By its name in the table of docs/wire.md, which has the reason. */
const decided: Readonly<Record<string, Decided>> = {
  '`json_url` is the retrieval': [
    ['', '[].'].map(
      (at) =>
        `${at}json_url: "https://pwpush.example/p/:token/r.json" → "https://pwpush.example/p/:token.json"`,
    ),
    'any',
  ],
  'A passphrase is never returned': [
    ['passphrase: "pp" → null'],
    [...both('all'), 'get all passphrase', 'delete with passphrase'],
  ],
  'A missing passphrase is no wrong one': [['logs[].count: added'], ['audit allowner']],
  'Listings say what a push is': [
    ['[].kind: added', '[].sealed_with: added'],
    ['active page 1', 'active page 2', 'active owner', 'active other', 'expired owner'],
  ],
  'Invalid limits are 422': [
    ['status 201 → 422'],
    both('days0', 'days91', 'views0', 'views101', 'daysWord', 'daysFloat'),
  ],
  'A payload is a string': [['status 201 → 422'], both('number')],
  'A name has at most 255 characters': [['status 201 → 422'], both('name300')],
  'A push of kind `file` has files': [['status 201 → 422'], ['create fileKind owner']],
  'A wrong type is 422 or 400': [
    ['status 500 → 422', 'status 500 → 400'],
    [...both('pigeon'), 'create body pushString', 'create body pushArray', 'files in json'],
  ],
  'Every refusal has a reason, in JSON': [
    ['type text/html → application/json', 'body: empty → error'],
    [
      ...['create with bad token', 'audit none', 'audit bad token', 'active none', 'active bad'],
      ...['plain', 'plainowner', 'all', 'files'].map((push) => `preview ${push} bad token`),
      ...['expired none', 'expired bad', 'delete by bad token', 'Basic auth'],
    ],
  ],
  'No `status` next to `error`': [
    ['status: missing'],
    ['create body broken', 'get plain /r', 'get weird', 'no such path'],
  ],
  'A wrong method is 405': [['status 404 → 405'], ['PUT pushes', 'GET pushes', 'PATCH', 'OPTIONS']],
  '`HEAD` of a push is 405 and uses no view': [
    ['status 200 → 405', 'views_remaining: 1 → 2'],
    ['head plain', 'get plain accept html'],
  ],
  'A request for an expired push uses no view': [
    ['views_remaining: 4 → 5'],
    ['get deleted', 'delete again'],
  ],
  'A retrieval by the owner is `owner_view`': [
    ['logs[].kind: "admin_view" → "owner_view"'],
    ['audit owner', 'audit page 1'],
  ],
  'A page below 1 is 400': [
    ['status 200 → 400'],
    ['audit page 0', 'active page 0', 'audit page -1', 'active page -1'],
  ],
  'Expiring without permission is 403': [
    ['status 401 → 403'],
    ['delete by viewer forbidden, then', 'delete by other forbidden'],
  ],
  'A viewer who expires a push needs its passphrase': [
    ['status 200 → 401'],
    ['delete with passphrase, then'],
  ],
  'No e-mail: the version says so': [
    ['features.pushes.email_auto_dispatch: true → false'],
    VERSIONS,
  ],
  'No e-mail: a creation that requests it is 422': [
    ['status 201 → 422', 'status 200 → 404'],
    ['create notify owner', 'create and notify', 'audit of a notified push'],
  ],
  'No e-mail: `notify_emails` is 404': [
    ['201', '401', '403', '422', '429'].map((status) => `status ${status} → 404`),
    [
      ...['anonymous', 'owner', 'other'].map((caller) => `notify good ${caller}`),
      ...['in push', 'none', 'not an address', 'six', 'bad locale'].map(
        (what) => `notify ${what} owner`,
      ),
    ],
  ],
  'Requests: the version says so': [['features.requests.enabled: false → true'], VERSIONS],
  '`application` in the version': [['application: added'], VERSIONS],
  '`expire_after_duration` is accepted': [
    ['expire_after_days: 7 → 1', 'days_remaining: 7 → 1'],
    both('duration'),
  ],
  '`expires_at` of a push': [['expires_at: added', '[].expires_at: added'], 'any'],
  '`expires_in` in the version': [['features.pushes.expires_in: added'], VERSIONS],
  '`json_pages` in the version': [['features.pushes.json_pages: added'], VERSIONS],
  '`idempotency` in the version': [['features.pushes.idempotency: added'], VERSIONS],
  '`key_proofs` in the version': [['features.pushes.key_proofs: added'], VERSIONS],
  'Failures of one kind from one place are one entry': [['logs: 4 → 3 rows'], ['one view, audit']],
};

export const decisions = Object.entries(decided).map(([name, [differences, steps]]) => ({
  name,
  differences,
  steps,
}));
