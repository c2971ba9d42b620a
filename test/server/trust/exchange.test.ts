import { describe, expect, test } from 'vitest';
import { Trusts } from '../../../src/server/trust/trusts';
import { trust } from '../../helpers/issuer';
import { at, opened, testClock } from '../../helpers/service';
import { onEachStore } from '../../helpers/stores';
import { exchanging, PATH, parametersOf, publicUrl, refusal } from './exchanging';

const MINUTE = 60_000;

onEachStore((store) => {
  const { made, exchange, logged, counted } = exchanging(store);

  describe('an exchange', () => {
    test('gives a token of the trust, which ends', async () => {
      const { status, headers, json } = await exchange();
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store, no-transform']);
      const access_token = expect.stringMatching(/^pwp_/);
      const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token';
      const rest = { token_type: 'Bearer', expires_in: 600, scope: 'push' };
      expect(json).toEqual({ access_token, issued_token_type, ...rest });
      const token = json.access_token;
      const id = await made.service.create({ payload: 'x' }, token);
      expect((await made.service.call('GET', at(id, '/preview'), { token })).status).toBe(200);
      made.service.clock.advance(10 * MINUTE);
      expect((await made.service.call('GET', at(id, '/preview'), { token })).status).toBe(401);
      expect(logged()).toEqual(['outcome=granted trust=deploy']);
      expect(made.service.lines.join()).not.toMatch(/eyJ|pwp_/);
      expect([await counted('granted'), await counted('claims')]).toEqual(['1', '0']);
    });

    test('the first of several trusts that match counts', async () => {
      await trust(made.room, made.from, { name: 'later', scope: 'all' });
      await trust(made.room, made.from, { name: 'branch', scope: 'all', claims: ['ref=refs/heads/main'] });
      expect((await exchange()).json.scope).toBe('push');
      expect((await exchange(made.from.token({ repository: 'org/other' }))).json.scope).toBe('all');
    });

    test('goes by the clock of the database, at a second service whose clock is ahead, too', async () => {
      const [serverClock, clock] = [testClock(), testClock()];
      clock.advance(2 * MINUTE);
      const ahead = await opened({ ...made.room.settings, publicUrl, clock, serverClock });
      const exchangeThere = (claims: Parameters<typeof made.from.token>[0]) =>
        ahead.call('POST', PATH, { fields: parametersOf(made.from.token(claims)) });
      const seconds = serverClock.now().getTime() / 1000;
      expect(await exchangeThere({ iat: seconds + 120 })).toMatchObject(refusal('the token is valid only in 120 s'));
      const { json } = await exchangeThere({ exp: seconds + 5 });
      expect(json.expires_in).toBe(600);
      const id = await ahead.create({ payload: 'x' }, json.access_token);
      const statusHere = async () =>
        (await made.service.call('GET', at(id, '/audit'), { token: json.access_token })).status;
      made.service.clock.advance(10 * MINUTE - 1);
      expect(await statusHere()).toBe(200);
      made.service.clock.advance(1);
      expect(await statusHere()).toBe(401);
    });

    test('a trust that was removed meanwhile gives nothing', async () => {
      const database = await made.room.beside();
      const trusts = new Trusts(database, made.service.clock.now);
      made.from.answers.set('/keys', async (_, response) => {
        await trusts.remove('deploy');
        const { publicKey, kid } = made.from.key;
        response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid }] }));
      });
      expect(await exchange()).toMatchObject(refusal('no trust matches the claims of this token'));
      await database.close();
    });

    test('the subject of an identity token is hostile, or missing', async () => {
      const subjectOf = async (sub: string | undefined) => {
        const token = (await exchange(made.from.token({ sub }))).json.access_token;
        const id = await made.service.create({ payload: 'x' }, token);
        return (await made.service.call('GET', at(id, '/audit'), { token })).json.logs[0].sub;
      };
      expect(await subjectOf(`a" b\u0000\u202e\n${'x'.repeat(300)}`)).toBe(`a" b\ufffd\ufffd\ufffd${'x'.repeat(247)}…`);
      expect(await subjectOf(undefined)).toBe('');
    });

    test('that no trust takes is logged with a claim that each misses', async () => {
      await trust(made.room, made.from, { name: 'branch', claims: ['repository=org/*', 'ref=refs/tags/*'] });
      await exchange(made.from.token({ repository: 'org/other', ref: 'secret' }));
      const reason = 'no trust matches the claims of this token: repository of deploy, ref of branch';
      expect(logged()).toEqual([`outcome=claims reason="${reason}"`]);
    });
  });

  describe('what the version says of exchanges', () => {
    const feature = async (of = made.service) => (await of.call('GET', '/api/v2/version')).json.features.token_exchange;

    test('the audience is the public address, that of a trust, or none for all', async () => {
      expect(await feature()).toEqual({ enabled: true, audience: publicUrl });
      await trust(made.room, made.from, { name: 'other', audience: 'https://other.test' });
      expect(await feature()).toEqual({ enabled: true, audience: null });
      expect((await exchange(made.from.token({ aud: 'https://other.test' }))).status).toBe(200);
      const database = await made.room.beside();
      await new Trusts(database, made.service.clock.now).remove('deploy');
      await database.close();
      expect(await feature()).toEqual({ enabled: true, audience: 'https://other.test' });
      await trust(made.room, made.from, { name: 'third', audience: publicUrl });
      expect(await feature()).toEqual({ enabled: true, audience: null });
    });

    test('without a trust it is not enabled', async () => {
      const database = await made.room.beside();
      await new Trusts(database, made.service.clock.now).remove('deploy');
      await database.close();
      expect(await feature()).toEqual({ enabled: false, audience: null });
    });
  });
});
