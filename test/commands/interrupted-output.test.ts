import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { CREATED, changed, RETRIEVED } from '../helpers/reference';
import { type Conditions, type Place, place } from '../helpers/run';
import { json, type Literal, wire } from '../helpers/wire';

// A signal between the instance's answer and its last word to the user, and streams that take nothing.

let here: Place;
afterEach(() => here.close());

const LAST = changed(RETRIEVED, { views_remaining: 0 });
const LINK = 'https://pw.test/p/quyul5r5w08/r\n';
const nothing = () => {};

/** Runs a command line that is interrupted as the answer arrives. */
async function interrupted(
  answer: Literal,
  argv: readonly string[],
  conditions: Conditions = {},
  name = 'SIGINT',
) {
  const controller = new AbortController();
  const { send } = wire([answer]);
  here = place({
    env: { PWPUSH_URL: 'https://pw.test' },
    stdin: 'hunter2',
    signal: controller.signal,
    send: async (request) => {
      const response = await send(request);
      controller.abort(name);
      return response;
    },
    ...conditions,
  });
  return { ...(await here.run(...argv)), rescued: Object.values(here.rescued()) };
}

const pushed = (conditions?: Conditions, ...argv: string[]) =>
  interrupted(json(201, CREATED), ['push', ...argv], conditions);

describe('many pushes that were created while stdout takes nothing, as the signal came', () => {
  /** As many as are begun while the first cannot be told. */
  const all = 8;
  const many = async (held: Conditions['held'], ...argv: string[]) => {
    const controller = new AbortController();
    let made = 0;
    here = place({
      env: { PWPUSH_URL: 'https://pw.test' },
      stdin: 's\n'.repeat(100),
      signal: controller.signal,
      send: async () => {
        made += 1;
        const { send } = wire([json(201, CREATED.replaceAll('quyul5r5w08', `token-${made}`))]);
        if (made === all) setImmediate(() => controller.abort('SIGINT'));
        return send({ method: 'POST', url: 'https://pw.test/api/v2/pushes', headers: {} });
      },
      held: { stdout: nothing, ...held },
    });
    const { code, stderr } = await here.run('push', '--each', ...argv);
    const told = [stderr, ...Object.values(here.rescued())].join('\n');
    const links = new Set(told.match(/https:\/\/pw\.test\/p\/token-\d+\/r/g));
    return { code, made, links: links.size };
  };

  test.each([[], ['--json']])('%j: all links are told', async (...argv) => {
    expect(await many({}, ...argv)).toEqual({ code: 130, made: all, links: all });
    await here.close();
    expect(await many({ stderr: nothing }, ...argv)).toEqual({ code: 130, made: all, links: all });
  });
});

describe('a push that was created as the signal came', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('%s: its link is printed', async (name, code) => {
    const outcome = await interrupted(json(201, CREATED), ['push'], {}, name);
    expect(outcome).toMatchObject({ code, stdout: LINK, rescued: [] });
  });

  test('stdout takes nothing: its link goes to stderr', async () => {
    const outcome = await pushed({ held: { stdout: nothing } });
    expect(outcome).toMatchObject({ code: 130, stdout: '', rescued: [] });
    expect(outcome.stderr.split('\n')[0]).toBe(LINK.trim());
  });

  const silence = { held: { stdout: nothing, stderr: nothing } };
  const silent = { code: 130, stdout: '', stderr: '', rescued: [LINK] };

  test('neither stdout nor stderr takes anything: its link goes to a rescue file', async () => {
    expect(await pushed(silence)).toEqual(silent);
  });

  test('with --json its link is in the error, or in a rescue file', async () => {
    const { code, stdout, stderr, rescued } = await pushed({ held: { stdout: nothing } }, '--json');
    expect([code, stdout, rescued]).toEqual([130, '', []]);
    expect(JSON.parse(stderr).error.link).toBe(LINK.trim());
    here.close();
    expect(await pushed(silence, '--json')).toEqual(silent);
  });
});

test('a signal while the link is being printed does not lose it either', async () => {
  const controller = new AbortController();
  here = place({
    env: { PWPUSH_URL: 'https://pw.test' },
    stdin: 'hunter2',
    signal: controller.signal,
    send: wire([json(201, CREATED)]).send,
    held: { stdout: () => controller.abort('SIGTERM'), stderr: nothing },
  });
  const { code } = await here.run('push');
  expect({ code, rescued: Object.values(here.rescued()) }).toEqual({ code: 143, rescued: [LINK] });
});

describe('a secret that was retrieved as the signal came', () => {
  const got = (conditions?: Conditions, ...argv: string[]) =>
    interrupted(json(200, LAST), ['get', 'quyul5r5w08', ...argv], conditions);

  test('is printed', async () => {
    expect(await got()).toMatchObject({ code: 130, stdout: 'hunter2', rescued: [] });
  });

  test('stdout takes nothing: it is rescued, and its path is told', async () => {
    const { stderr, ...rest } = await got({ held: { stdout: nothing } });
    expect(rest).toEqual({ code: 130, stdout: '', rescued: ['hunter2'] });
    expect(stderr).toMatch(/^\npwpush: interrupted; .* saved to \S+\nhint: .*\n {2}rm '\S+'\n$/);
  });

  test('neither stdout nor stderr takes anything: it is rescued', async () => {
    expect(await got({ held: { stdout: nothing, stderr: nothing } })).toEqual({
      code: 130,
      stdout: '',
      stderr: '',
      rescued: ['hunter2'],
    });
  });
});

test('a link that was rescued says so to the machine', async () => {
  const failing = { stdout: 'ENOSPC' } as const;
  here = place({
    env: { PWPUSH_URL: 'https://pw.test' },
    send: wire([json(200, LAST)]).send,
    failing,
  });
  const { stderr } = await here.run('get', 'quyul5r5w08', '--json');
  const [name = ''] = Object.keys(here.rescued());
  expect(JSON.parse(stderr).error).toMatchObject({
    code: 'failed',
    saved_to: here.file(`state/${name}`),
  });
});

describe('where the state folder cannot be written', () => {
  test('a secret is saved to a folder of its own below TMPDIR', async () => {
    here = place({ send: wire([json(200, LAST)]).send, failing: { stdout: 'EPIPE' } });
    writeFileSync(here.file('state'), '');
    const env = { PWPUSH_URL: 'https://pw.test', TMPDIR: here.folder };
    const { code, stderr } = await here.under({ env }).run('get', 'quyul5r5w08');
    const path = /saved to (\S+)\n/.exec(stderr)?.[1] ?? '';
    expect({ code, path }).toEqual({
      code: 1,
      path: expect.stringMatching(`^${here.folder}/pwpush-rescue-\\w{6}/secret-2026-[^/]+$`),
    });
  });
});
