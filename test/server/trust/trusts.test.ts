import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openForOperator } from '../../../src/server/open-service';
import type { Trusts } from '../../../src/server/trust/trusts';
import { testClock, testService } from '../../helpers/service';
import { inRoom, onEachStore, type Room } from '../../helpers/stores';

const GITHUB = 'https://token.actions.githubusercontent.com';

type NewTrust = Parameters<Trusts['add']>[0];
const described = (changes: Partial<NewTrust> = {}): NewTrust => ({
  name: 'app',
  issuer: GITHUB,
  claims: ['repository=org/app', 'ref=refs/heads/main'],
  user: 'ci',
  scope: 'push',
  lifetime: 600,
  private_issuer: false,
  ...changes,
});

onEachStore((store) => {
  describe('trusts', () => {
    let room: Room;
    let clock: ReturnType<typeof testClock>;
    let trusts: Trusts;

    beforeEach(async () => {
      room = await store.room();
      clock = testClock();
      await (await testService({ ...room.settings, clock })).close();
      const operator = await openForOperator(room.settings, clock);
      onTestFinished(operator.close);
      trusts = operator.trusts;
    });

    /** Stores tokens as if a trust had given them. */
    const give = (name: string, ...ends: number[]) =>
      inRoom(room, async ({ sql }) => {
        for (const [index, end] of ends.entries())
          await sql`
            INSERT INTO tokens (selector, owner_id, label, scope, maker, digest, created_at, ends_at, trust_id, subject)
            SELECT ${`${name}${index}`}, owner_id, '', scope, maker, ${Buffer.from(name)}, 0, ${end}, id, 'repo:org/app'
            FROM trusts WHERE name = ${name}`;
      });
    const tokensOf = () =>
      inRoom(room, async ({ sql }) => {
        const rows = await sql<{ selector: string }>`SELECT selector FROM tokens WHERE trust_id IS NOT NULL`;
        return rows.map(({ selector }) => selector).sort();
      });

    test('are kept in the order in which they were added, with what they were added with', async () => {
      expect(await trusts.all()).toEqual([]);
      expect(await trusts.add(described({ name: 'z', claims: ['2=b', 'repository=org/app', '1=a'] }))).toBe(null);
      const other = {
        name: 'a',
        issuer: 'https://10.0.0.1/realm',
        audience: 'urn:x',
        scope: 'all',
        lifetime: 60,
      } as const;
      await trusts.add(described({ ...other, user: 'admin', private_issuer: true, claims: ['team=x*'] }));
      const all = await trusts.all();
      expect(all).toMatchObject([
        { name: 'z', issuer: GITHUB, audience: null, scope: 'push', lifetime: 600, private_issuer: false },
        { ...other, private_issuer: true, claims: { team: 'x*' } },
      ]);
      expect(all[0]?.claims).toEqual({ 1: 'a', 2: 'b', repository: 'org/app' });
      expect(all.map(({ user }) => user)).toEqual(['ci', 'admin']);
      // What the tokens of one trust make, those of another do not reach.
      expect(all[0]?.maker).toMatch(/^[\w-]{22}$/);
      expect(all[0]?.maker).not.toBe(all[1]?.maker);
    });

    test('are listed with the number of their tokens that are valid, and without what their tokens share', async () => {
      await trusts.add(described());
      await trusts.add(described({ name: 'none' }));
      const now = clock.now().getTime();
      await give('app', now - 1, now, now + 1, now + 2);
      const [{ maker } = { maker: '' }] = await trusts.all();
      const list = await trusts.list();
      expect(list).toMatchObject([
        { name: 'app', tokens: 2 },
        { name: 'none', tokens: 0 },
      ]);
      expect(list[0]).toEqual({
        name: 'app',
        issuer: GITHUB,
        audience: null,
        claims: { repository: 'org/app', ref: 'refs/heads/main' },
        user: 'ci',
        scope: 'push',
        lifetime: 600,
        private_issuer: false,
        created_at: clock.now().toISOString(),
        tokens: 2,
      });
      expect(JSON.stringify(list)).not.toContain(maker);
    });

    test('that are removed end the tokens that they gave, and no others', async () => {
      await trusts.add(described());
      await trusts.add(described({ name: 'other' }));
      const now = clock.now().getTime();
      await give('app', now - 1, now + 1, now + 2);
      await give('other', now + 1);
      expect(await trusts.remove('app')).toBe(2);
      expect(await tokensOf()).toEqual(['other0']);
      expect((await trusts.all()).map(({ name }) => name)).toEqual(['other']);
      expect(await trusts.remove('app')).toBe(undefined);
      expect(await trusts.remove('other (removed)')).toBe(undefined);
      // What is added later is another trust, behind those that are there.
      await trusts.add(described());
      expect((await trusts.all()).map(({ name }) => name)).toEqual(['other', 'app']);
    });

    test('have a name each: one that is taken is refused, and changes nothing', async () => {
      await trusts.add(described());
      await expect(trusts.add(described({ user: 'dave', lifetime: 60 }))).rejects.toMatchObject({
        code: 'usage',
        message: 'there is a trust "app"',
      });
      expect(await trusts.list()).toMatchObject([{ user: 'ci', lifetime: 600 }]);
      const owners = await inRoom(room, ({ sql }) => sql`SELECT id FROM owners WHERE name = 'dave'`);
      expect(owners).toEqual([]);
    });

    test.each([
      [{ name: '' }, 'a trust is named by'],
      [{ name: 'a b' }, 'a trust is named by'],
      [{ name: '-a' }, 'a trust is named by'],
      [{ name: 'a'.repeat(65) }, 'a trust is named by'],
      [{ audience: '' }, '--audience must be'],
      [{ audience: 'a b' }, '--audience must be'],
      [{ audience: 'a\n' }, '--audience must be'],
      [{ audience: 'a'.repeat(256) }, '--audience must be'],
      [{ lifetime: 59 }, '--lifetime must be'],
      [{ lifetime: 3601 }, '--lifetime must be'],
      [{ lifetime: 90.5 }, '--lifetime must be'],
      [{ user: 'a b' }, 'a user name cannot have spaces'],
      [{ claims: [] }, '--claim is missing'],
      [{ claims: ['ref=refs/heads/main'] }, 'no --claim names one organization exactly'],
      [{ issuer: 'https://10.0.0.1' }, 'is in a private network'],
    ])('are refused with %j', async (changes, message) => {
      await expect(trusts.add(described(changes))).rejects.toMatchObject({
        code: 'usage',
        message: expect.stringContaining(message),
      });
      expect(await trusts.all()).toEqual([]);
    });

    test.each([
      { name: 'A.b_c-1' },
      { name: 'a'.repeat(64) },
      { audience: 'a'.repeat(255) },
      { lifetime: 60 },
      { lifetime: 3600 },
    ])('may have %j', async (changes) => {
      await trusts.add(described(changes));
      expect(await trusts.all()).toMatchObject([changes]);
    });

    test('tell of an older one, the first, that takes all that a new one does', async () => {
      const add = (name: string, changes: Partial<NewTrust>) => trusts.add(described({ name, ...changes }));
      const main = ['repository=org/app', 'ref=refs/heads/main'];
      expect(await add('narrow', { claims: [...main, 'environment=prod'] })).toBe(null);
      expect(await add('app', { claims: main })).toBe(null);
      expect(await add('wide', { claims: ['repository=org/*'] })).toBe(null);
      expect(await add('same', { claims: main.toReversed(), lifetime: 60, user: 'admin' })).toBe('app');
      expect(await add('prod', { claims: [...main, 'environment=prod', 'actor=a'] })).toBe('narrow');
      expect(await add('other', { claims: ['repository=org/other'] })).toBe('wide');
      expect(await add('audience', { claims: main, audience: 'urn:x' })).toBe(null);
      expect(await add('issuer', { claims: main, issuer: `${GITHUB}/enterprise` })).toBe(null);
    });
  });
});
