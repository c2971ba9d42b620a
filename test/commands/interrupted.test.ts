import { describe, expect, test } from 'vitest';
import { aborted } from '../../src/platform/files/abort';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';
import { type Conditions, type PlaceOptions, place } from '../helpers/run';
import { broken, json, type Literal, wire } from '../helpers/wire';

// A signal at any time of a run, and streams that take nothing: what was created or retrieved reaches the user.

const LINK = 'https://pw.test/p/quyul5r5w08/r';
const PUSHED = json(201, CREATED);
const TAKEN = json(200, changed(RETRIEVED, { views_remaining: 0 }));
/** So many pushes or expiries are under way at once. */
const AT_ONCE = 8;

const nothing = () => {};
const mute = { stdout: nothing };
const silent = { stdout: nothing, stderr: nothing };

type Interrupt = (name: string) => void;

async function run(argv: readonly string[], options: (interrupt: Interrupt) => PlaceOptions) {
  const controller = new AbortController();
  const { signal } = controller;
  const env = { PWPUSH_URL: 'https://pw.test', PWPUSH_EDITION: 'oss', PWPUSH_TOKEN: 't0ken' };
  const interrupt: Interrupt = (name) => controller.abort(name);
  const here = place({ env, stdin: 'hunter2', signal, ...options(interrupt) });
  const outcome = await here.run(...argv);
  return { ...outcome, rescued: Object.values(here.rescued()) };
}

const atAnswer = (argv: readonly string[], answer: Literal, held: Conditions['held'] = {}, name = 'SIGINT') =>
  run(argv, (interrupt) => ({
    held,
    send: async (request) => {
      const response = await wire([answer]).send(request);
      interrupt(name);
      return response;
    },
  }));

test.each([
  ['SIGINT', 130, 'interrupted'],
  ['SIGTERM', 143, 'terminated'],
  ['SIGHUP', 129, 'hung up'],
])('%s while an answer is awaited ends with %i; as one arrives, the link is printed', async (name, code, word) => {
  // Rejected, as the real transport ends when its signal does.
  const awaiting = await run(['version'], (interrupt) => ({
    send: async () => Promise.reject(interrupt(name)),
  }));
  expect(awaiting).toMatchObject({ code, stdout: '', stderr: `pwpush: ${word}\n` });
  const answered = await atAnswer(['push'], PUSHED, {}, name);
  expect(answered).toMatchObject({ code, stdout: `${LINK}\n`, rescued: [] });
});

test('a command that does not end is left behind', async () => {
  const { code, stderr } = await run(['version', '--json'], (interrupt) => ({
    send: () => {
      interrupt('SIGTERM');
      return new Promise(() => {});
    },
  }));
  expect(code).toBe(143);
  expect(stderr).toBe('{"error":{"code":"terminated","message":"terminated"}}\n');
});

describe('what arrives as the signal comes is printed, or rescued', () => {
  interface Told {
    readonly stdout?: string;
    readonly stderr?: RegExp;
    readonly rescued?: readonly string[];
  }
  const get = ['get', 'quyul5r5w08'];
  const saved = /^\npwpush: interrupted; .* saved to \S+\nhint: .*\n {2}rm '\S+'\n$/;

  test.each<[string[], Literal, Conditions['held'], Told]>([
    [['push'], PUSHED, mute, { stderr: new RegExp(`^${LINK}\n`) }],
    [['push'], PUSHED, silent, { rescued: [`${LINK}\n`] }],
    [['push', '--json'], PUSHED, mute, { stderr: new RegExp(`"link":"${LINK}"`) }],
    [['push', '--json'], PUSHED, silent, { rescued: [`${LINK}\n`] }],
    [get, TAKEN, {}, { stdout: 'hunter2' }],
    [get, TAKEN, mute, { stderr: saved, rescued: ['hunter2'] }],
    [get, TAKEN, silent, { rescued: ['hunter2'] }],
  ])('%# %j', async (argv, answer, held, { stdout = '', stderr = /^/, rescued = [] }) => {
    const outcome = await atAnswer(argv, answer, held);
    expect(outcome).toMatchObject({ code: 130, stdout, rescued });
    expect(outcome.stderr).toMatch(stderr);
  });

  test('also when it comes while the link is being printed', async () => {
    const { code, rescued } = await run(['push'], (interrupt) => ({
      send: wire([PUSHED]).send,
      held: { ...silent, stdout: () => interrupt('SIGTERM') },
    }));
    expect({ code, rescued }).toEqual({ code: 143, rescued: [`${LINK}\n`] });
  });

  test.each([
    [mute, []],
    [silent, []],
    [mute, ['--json']],
    [silent, ['--json']],
  ])('each link of many pushes: %# %j', async (held, more) => {
    let made = 0;
    const { code, stderr, rescued } = await run(['push', '--each', ...more], (interrupt) => ({
      stdin: 's\n'.repeat(100),
      held,
      send: async (request) => {
        made += 1;
        const answer = json(201, CREATED.replaceAll('quyul5r5w08', `token-${made}`));
        if (made === AT_ONCE) setImmediate(() => interrupt('SIGINT'));
        return wire([answer]).send(request);
      },
    }));
    const links = [stderr, ...rescued].join('\n').match(/https:\/\/pw\.test\/p\/token-\d+\/r/g);
    expect([code, made, new Set(links).size]).toEqual([130, AT_ONCE, AT_ONCE]);
  });
});

describe('of many requests that are interrupted', () => {
  let requests: number;
  /** Interrupts the run once as many requests as possible are under way, none of which is answered but the first. */
  const breaking =
    (first?: Literal) =>
    (interrupt: Interrupt): PlaceOptions => {
      const ended = new AbortController();
      requests = 0;
      return {
        stdin: 'line\n'.repeat(3 * AT_ONCE),
        send: async (request) => {
          requests += 1;
          if (requests === 1 && first) return wire([first]).send(request);
          if (requests === AT_ONCE) {
            interrupt('SIGINT');
            ended.abort();
          }
          await aborted(ended.signal);
          throw broken(true);
        },
      };
    };

  test('push --each prints what became of each line that was begun, and begins none after it', async () => {
    const { code, stdout, stderr } = await run(['push', '--each'], breaking(PUSHED));
    expect([code, stdout]).toEqual([130, `${LINK}\n${'\n'.repeat(requests - 1)}`]);
    // Another took the place of the first one.
    expect(requests).toBeLessThanOrEqual(AT_ONCE + 1);
    expect(stderr).toMatch(/^pwpush: line 2: .*\n[\s\S]*\npwpush: interrupted\n$/);
  });

  test('expire tells of each push whether it was under way', async () => {
    const tokens = Array.from({ length: 12 }, (_, at) => `token${at}`);
    const { code, stderr } = await run(['expire', '--json', ...tokens], breaking());
    const lines = stderr.trim().split('\n');
    const told = (what: string) => lines.filter((line) => line.includes(`"code":"${what}"`)).length;
    expect([code, told('unknown'), told('interrupted')]).toEqual([130, AT_ONCE, 13 - AT_ONCE]);
  });

  test('run names the link whose view may be used', async () => {
    const words = ['run', 'abcdefgh1', 'abcdefgh2', '--as', 'A', '--as', 'B', '--', 'true'];
    let asked = 0;
    const { code, stderr } = await run(words, (interrupt) => ({
      send: async (request) => {
        asked += 1;
        if (asked === 1) return wire([TAKEN]).send(request);
        interrupt('SIGINT');
        throw broken(true);
      },
    }));
    expect(code).toBe(130);
    expect(stderr).toMatch(
      /^pwpush: interrupted; link 2: .* no complete response; nothing was started; the secret was saved/,
    );
    expect(stderr).toContain('hint: a view may have been used');
  });
});
