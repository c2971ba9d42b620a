/** A difference from the recorded server that is meant to be. */
export interface Decision {
  /** As the table of docs/wire.md names it. */
  readonly name: string;
  /** As that table has it. */
  readonly reason: string;
  /** As the test spells them: what the recorded server answers → what ours does. */
  readonly differences: readonly string[];
  /** The recorded requests that may, and must, be answered so; `any` where one is enough. */
  readonly steps: readonly string[] | 'any';
}

const both = (...names: string[]) =>
  names.flatMap((name) => [`create ${name} anonymous`, `create ${name} owner`]);

export const decisions: readonly Decision[] = [
  {
    name: '`json_url` is the retrieval',
    reason:
      'With a retrieval step, that of the reference is `/p/:token/r.json`, which is useless to a client of the API.',
    differences: ['', '[].'].map(
      (at) =>
        `${at}json_url: "https://pwpush.example/p/:token/r.json" → "https://pwpush.example/p/:token.json"`,
    ),
    steps: 'any',
  },
  {
    name: 'A passphrase is never returned',
    reason: 'The reference returns it in clear text. The service stores a hash, and returns null.',
    differences: ['passphrase: "pp" → null'],
    steps: [...both('all'), 'get all passphrase', 'delete with passphrase'],
  },
  {
    name: 'A missing passphrase is no wrong one',
    reason:
      'Both are `failed_passphrase`; the service adds a `count`, which is 0 for the missing one.',
    differences: ['logs[].count: added'],
    steps: ['audit allowner'],
  },
  {
    name: 'Invalid limits are 422',
    reason:
      'The specification. The reference uses its default and responds with 201: a secret for 2 days would live for 7.',
    differences: ['status 201 → 422'],
    steps: both('days0', 'days91', 'views0', 'views101', 'daysWord', 'daysFloat'),
  },
  {
    name: 'A payload is a string',
    reason: 'A number may change: `1.0` becomes 1, and `1e400` is lost.',
    differences: ['status 201 → 422'],
    steps: both('number'),
  },
  {
    name: 'A name has at most 255 characters',
    reason: 'The reference has no limit; a note has at most 10,000 characters.',
    differences: ['status 201 → 422'],
    steps: both('name300'),
  },
  {
    name: 'A push of kind `file` has files',
    reason: 'The reference accepts one without files, which reads as text.',
    differences: ['status 201 → 422'],
    steps: ['create fileKind owner'],
  },
  {
    name: 'A wrong type is 422 or 400',
    reason: 'The reference fails with 500.',
    differences: ['status 500 → 422', 'status 500 → 400'],
    steps: [...both('pigeon'), 'create body pushString', 'create body pushArray', 'files in json'],
  },
  {
    name: 'Every refusal has a reason, in JSON',
    reason: 'Many 401 responses of the reference have an empty body of type `text/html`.',
    differences: ['type text/html → application/json', 'body: empty → error'],
    steps: [
      ...['create with bad token', 'audit none', 'audit bad token', 'active none', 'active bad'],
      ...['plain', 'plainowner', 'all', 'files'].map((push) => `preview ${push} bad token`),
      ...['expired none', 'expired bad', 'delete by bad token', 'Basic auth'],
    ],
  },
  {
    name: 'No `status` next to `error`',
    reason:
      'It comes from the web framework of the reference, for errors outside its API, and repeats the status line.',
    differences: ['status: missing'],
    steps: ['create body broken', 'get plain /r', 'get weird', 'no such path'],
  },
  {
    name: 'A wrong method is 405',
    reason: 'RFC 9110, 15.5.6, with `Allow`; the reference responds with 404.',
    differences: ['status 404 → 405'],
    steps: ['PUT pushes', 'GET pushes', 'PATCH', 'OPTIONS'],
  },
  {
    name: '`HEAD` of a push is 405 and uses no view',
    reason: 'Link checkers send it. In the reference it uses a view, as the next retrieval shows.',
    differences: ['status 200 → 405', 'views_remaining: 1 → 2'],
    steps: ['head plain', 'get plain accept html'],
  },
  {
    name: 'A request for an expired push uses no view',
    reason: 'The reference subtracts it from `views_remaining`, although nothing was shown.',
    differences: ['views_remaining: 4 → 5'],
    steps: ['get deleted', 'delete again'],
  },
  {
    name: 'A retrieval by the owner is `owner_view`',
    reason: 'The recorded owner was an administrator, which the service does not have.',
    differences: ['logs[].kind: "admin_view" → "owner_view"'],
    steps: ['audit owner', 'audit page 1'],
  },
  {
    name: 'A page below 1 is 400',
    reason: 'The specification. The reference returns page 1.',
    differences: ['status 200 → 400'],
    steps: ['audit page 0', 'active page 0', 'audit page -1', 'active page -1'],
  },
  {
    name: 'Expiring without permission is 403',
    reason: 'The specification. The reference responds with 401, as for an invalid token.',
    differences: ['status 401 → 403'],
    steps: ['delete by viewer forbidden, then', 'delete by other forbidden'],
  },
  {
    name: 'No e-mail: the version says so',
    reason: 'The service does not send e-mail.',
    differences: ['features.pushes.email_auto_dispatch: true → false'],
    steps: ['version', 'version bad token', 'version, with mail'],
  },
  {
    name: 'No e-mail: a creation that requests it is 422',
    reason: 'With 201, the sender would believe that the link was sent.',
    differences: ['status 201 → 422', 'status 200 → 404'],
    steps: ['create notify owner', 'create and notify', 'audit of a notified push'],
  },
  {
    name: 'No e-mail: `notify_emails` is 404',
    reason: 'As in the reference if the feature is disabled.',
    differences: ['201', '401', '403', '422', '429'].map((status) => `status ${status} → 404`),
    steps: [
      ...['anonymous', 'owner', 'other'].map((caller) => `notify good ${caller}`),
      ...['in push', 'none', 'not an address', 'six', 'bad locale'].map(
        (what) => `notify ${what} owner`,
      ),
    ],
  },
  {
    name: 'Requests: the version says so',
    reason: 'The service has them, as the commercial edition; `edition` is `oss` nevertheless.',
    differences: ['features.requests.enabled: false → true'],
    steps: ['version', 'version bad token', 'version, with mail'],
  },
  {
    name: '`application` in the version',
    reason: 'It is `pwpush`, and distinguishes the service from Password Pusher of that version.',
    differences: ['application: added'],
    steps: ['version', 'version bad token', 'version, with mail'],
  },
  {
    name: '`expire_after_duration` is accepted',
    reason:
      'As in the commercial edition. The reference ignores it, and grants 7 days for 45 minutes.',
    differences: ['expire_after_days: 7 → 1', 'days_remaining: 7 → 1'],
    steps: both('duration'),
  },
  {
    name: '`expires_at` of a push',
    reason: 'A push of the service can expire after minutes or hours.',
    differences: ['expires_at: added', '[].expires_at: added'],
    steps: 'any',
  },
  {
    name: '`expires_in` in the version',
    reason: 'Tells a client that a creation can have `expires_in` and `expire_after_duration`.',
    differences: ['features.pushes.expires_in: added'],
    steps: ['version', 'version bad token', 'version, with mail'],
  },
  {
    name: '`json_pages` in the version',
    reason: 'Tells a client without a token that the page of a link can be had as JSON.',
    differences: ['features.pushes.json_pages: added'],
    steps: ['version', 'version bad token', 'version, with mail'],
  },
  {
    name: '`idempotency` in the version',
    reason: 'Tells a client that a request whose response was lost can be sent again.',
    differences: ['features.pushes.idempotency: added'],
    steps: ['version', 'version bad token', 'version, with mail'],
  },
  {
    name: '`key_proofs` in the version',
    reason: 'Tells a client that a retrieval can be limited to those who have the key.',
    differences: ['features.pushes.key_proofs: added'],
    steps: ['version', 'version bad token', 'version, with mail'],
  },
  {
    name: 'Failures of one kind from one place are one entry',
    reason: 'With a `count`, so that nobody with a link can fill the log of a push, or the disk.',
    differences: ['logs: 4 → 3 rows'],
    steps: ['one view, audit'],
  },
];
