import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commercialEdition, type Guesses, type StandIn } from '../helpers/commercial';
import { type Place, place } from '../helpers/run';

// How an expiry is told to each edition, and accounts of the commercial one. Of that one nothing was recorded: what its
// documentation leaves open is guessed, and the client has to work with each guess. What is said is told by
// test/cases/push-expire*.txt and push-account.txt; which field asks for it by test/contract/lifetime.test.ts.

const LINK = 'https://pw.test/p/quyul5r5w08';

let here: Place;
let instance: StandIn;

function commercial(guesses: Guesses = {}, env: Record<string, string> = {}): void {
  instance = commercialEdition(guesses);
  here = place({
    send: instance.send,
    stdin: 'hunter2\n',
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't0ken', ...env },
  });
}

describe('the commercial edition', () => {
  const unnamed = { edition: undefined, features: false };
  test.each<Guesses>([
    {},
    { edition: 'Commercial' },
    { edition: undefined },
    { features: false },
    unnamed,
    { ...unnamed, accounts: 'object' },
    { ...unnamed, accounts: 'none' },
  ])('is told an index, whatever is guessed: %j', async (guesses) => {
    for (const [argv, index, warned] of [
      [['--days', '10'], 12, true],
      [['--expire', '45m'], 2, false],
      [['--expire', '2w'], 13, false],
      [['--expire', '2026-09-19T11:06:45Z'], 15, false],
    ] as const) {
      commercial(guesses);
      const { code, stdout, stderr } = await here.run('push', ...argv);
      expect([code, stdout, stderr.startsWith('warning: ')]).toEqual([0, `${LINK}\n`, warned]);
      expect(instance.bodies).toEqual([
        { push: { payload: 'hunter2', expire_after_duration: index } },
      ]);
      expect(instance.asked.at(-1)).toBe('POST /pushes');
    }
    await here.under({ stdin: 't0ken' }).run('login', 'https://pw.test');
    expect(here.kept()?.profiles.default).toMatchObject({ edition: 'commercial' });
  });

  test('is asked once by --each', async () => {
    commercial();
    const stdin = ['{"payload":"a","expire":"6h"}', '{"payload":"b","days":10}', '{"payload":"c"}'];
    const each = here.under({ stdin: stdin.join('\n') });
    const { code, stdout, stderr } = await each.run('push', '--each', '--expire', '1h');
    expect([code, stdout]).toEqual([0, `${LINK}\n`.repeat(3)]);
    expect(stderr).toMatch(/^warning: line 2: 10 days .* 7 days.*\n$/);
    expect(instance.asked).toEqual(['GET /version', ...Array(3).fill('POST /pushes')]);
    const told = (payload: string, expire_after_duration: number) => ({
      push: { payload, expire_after_duration },
    });
    expect(instance.bodies).toEqual([told('a', 4), told('b', 12), told('c', 3)]);
  });

  test('is known by the profile of its address, with its days', async () => {
    const profile = async (url: string, edition: 'commercial' | 'oss') => {
      commercial({}, { PWPUSH_URL: '' });
      await here.keep({ current: 'p', profiles: { p: { url, edition, days: 2 } } });
    };
    await profile('https://pw.test', 'commercial');
    await here.run('push');
    expect(instance.asked).toEqual(['POST /pushes']);
    expect(instance.bodies).toMatchObject([{ push: { expire_after_duration: 7 } }]);
    await profile('https://other.test', 'oss');
    await here.run('push', '--url', 'https://pw.test', '--days', '2');
    expect(instance.asked).toEqual(['GET /version', 'POST /pushes']);
  });
});

describe('accounts', () => {
  test('an id stands beside the push, in a form and a dry run too', async () => {
    commercial();
    await here.run('push', '--account', '42');
    writeFileSync(here.file('a.txt'), 'A');
    await here.under({ stdin: '' }).run('push', '--account', '42', '--file', here.file('a.txt'));
    expect(instance.bodies).toEqual([
      { push: { payload: 'hunter2' }, account_id: 42 },
      { push: {}, account_id: '42' },
    ]);
    const shown = await here.run('push', '--dry-run', '--json', '--account', '42');
    expect(JSON.parse(shown.stdout).body).toEqual({ push: { payload: '***' }, account_id: 42 });
  });

  test('login keeps it, and list asks for its pushes', async () => {
    commercial({}, { PWPUSH_URL: '', PWPUSH_TOKEN: '' });
    await here.under({ stdin: 't0ken' }).run('login', 'https://pw.test', '--account', '42');
    const url = 'https://pw.test';
    const kept = { url, token: 't0ken', edition: 'commercial', account: 42 };
    expect(here.kept()?.profiles.default).toEqual(kept);
    instance.asked.length = 0;
    await here.run('list');
    await here.run('push');
    expect(instance.asked).toEqual(['GET /pushes/active?page=1&account_id=42', 'POST /pushes']);
    expect(instance.bodies).toMatchObject([{ account_id: 42 }]);
  });

  const profile = { url: 'https://pw.test', token: 't0ken', account: 42 };
  test.each<[string, string[], string[], Record<string, string>]>([
    ['its receipt', ['--account', '42'], ['last'], {}],
    ['--account', ['--account', '42', '--no-receipt'], [LINK, '--account', '42'], {}],
    ['a profile', ['--no-receipt'], [LINK], { PWPUSH_URL: '', PWPUSH_TOKEN: '' }],
  ])('of a push %s tells in which list it is', async (_what, pushed, named, env) => {
    commercial({}, env);
    await here.keep({ current: 'p', profiles: { p: profile } });
    await here.run('push', ...pushed);
    expect((await here.run('wait', ...named, '--for', '5')).code).toBe(12);
    expect((await here.run('show', ...named)).code).toBe(0);
  });
});
