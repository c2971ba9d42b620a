import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { upTo } from '../../helpers/long';
import { folders } from '../../helpers/memory';
import { at, type Call, opened } from '../../helpers/service';
import { onPostgres } from '../../helpers/stores';

// Requests that arrive together share a transaction, and each of its statements is one over the rows of all.

const newFolder = folders();
const settings = ["log_statement = 'all'", "log_line_prefix = 'LINE '"];
/** Requests that arrive together. */
const MANY = 16;
/** The most groups that they may make, on a machine that stands still in between. */
const GROUPS = 4;

const withKey = (how: Call): Call => ({
  ...how,
  headers: { 'idempotency-key': `"${randomBytes(16).toString('base64url')}"` },
});

onPostgres(
  (cluster) => {
    /** The statements that the server runs for `work`, and how often each. */
    async function statementsOf(work: () => Promise<unknown>): Promise<[string, number][]> {
      const log = () => readFileSync(join(cluster().folder, 'log'), 'utf8');
      const before = log().length;
      await work();
      const counts = new Map<string, number>();
      for (const line of log().slice(before).split('LINE ')) {
        const [, text] = /^LOG: +(?:execute [^:]+|statement): (.*)/s.exec(line) ?? [];
        const statement = text?.replaceAll(/\s+/g, ' ').trim();
        // A connection is made when it is needed.
        if (statement === undefined || statement.includes('lock_timeout = 5000')) continue;
        counts.set(statement, (counts.get(statement) ?? 0) + 1);
      }
      return [...counts];
    }

    describe.each([
      ['without keys', (how: Call) => how],
      ['with keys', withKey],
    ])('requests that arrive together, %s', (_, keyed) => {
      test('are one statement of each kind', async () => {
        const database = cluster().url(await cluster().createDatabase());
        const service = await opened({ data: await newFolder(), database });
        const { asAdmin } = service;
        const create = async () => {
          const push = { payload: 'x', expire_after_views: 2 };
          const how = keyed({ ...asAdmin, body: { push } });
          return (await service.call('POST', at(''), how)).json.url_token;
        };
        // The first use of a token is noted.
        await create();
        let tokens: string[] = [];
        const retrieve = async (how: Call) => {
          const answers = tokens.map((token) => service.retrieve(token, keyed(how)));
          const payloads = (await Promise.all(answers)).map(({ json }) => json.payload);
          expect(payloads).toEqual(Array(MANY).fill('x'));
        };
        const calls: [what: string, work: () => Promise<unknown>, table: RegExp][] = [
          [
            'creations',
            async () => {
              tokens = await Promise.all(upTo(MANY).map(create));
            },
            /INSERT INTO secrets/,
          ],
          ["owner's readings", () => retrieve(asAdmin), /UPDATE pushes SET views = views /],
          ['views', () => retrieve({}), /UPDATE pushes SET views = views \+ 1/],
          ['last views', () => retrieve({}), /DELETE FROM secrets/],
        ];
        for (const [what, work, own] of calls) {
          const statements = await statementsOf(work);
          expect(statements.map(([text]) => text).join('\n'), what).toMatch(own);
          expect(
            statements.filter(([, count]) => count > GROUPS),
            what,
          ).toEqual([]);
        }
        for (const token of tokens)
          expect(await service.kindsOf(token)).toEqual(['creation', 'owner_view', 'view', 'view']);
      });
    });
  },
  { settings },
);
