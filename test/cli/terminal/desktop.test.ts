import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { showsProgress } from '../../../src/cli/terminal/desktop';
import { type Instance, instance } from '../../helpers/instance';

let here: Instance;
beforeEach(async () => {
  here = await instance({ terminals: ['stderr'] });
});
afterEach(() => here.close());

const BELL = '\u0007';

/** What is written to the terminal beside lines of text, when a wait for a viewed push ends. */
async function notice(env: Record<string, string>, ...words: string[]): Promise<string> {
  const push = { payload: 'MARKER', name: 'db password', retrieval_step: false };
  const token = await here.push(push, here.service.adminToken);
  await here.under({ env: { PWPUSH_TOKEN: '' } }).run('get', token, '--anonymous');
  const { code, stderr } = await here
    .under({ env: { ...here.admin, ...env } })
    .run('wait', token, ...words);
  expect(code).toBe(0);
  return stderr.replaceAll(/^.*\n/gm, '');
}

describe('the end of a wait', () => {
  test.each([
    [{ TERM: 'xterm-kitty' }, '\u001b]99;;pwpush: the push was viewed\u001b\\'],
    [{ TERM_PROGRAM: 'iTerm.app' }, '\u001b]9;pwpush: the push was viewed\u001b\\'],
    [{ TERM: 'foot' }, '\u001b]777;notify;pwpush;pwpush: the push was viewed\u001b\\'],
    [{ TERM: 'xterm-256color' }, BELL],
    [{ TERM: 'tmux-256color', TERM_PROGRAM: 'ghostty' }, BELL],
    [{ TERM: 'xterm-kitty', TMUX: '/tmp/tmux' }, BELL],
    [{ TERM: 'dumb' }, ''],
    [{ TERM: 'xterm-kitty', PWPUSH_NOTIFY: '0' }, ''],
    [{ TERM: 'xterm-kitty', CI: 'true' }, ''],
  ])('is told by the terminal of %j', async (env, expected) => {
    expect(await notice(env)).toBe(expected);
  });

  test('is told to nobody who wants no words', async () => {
    expect(await notice({}, '--quiet')).toBe('');
    expect(await notice({}, '--json')).toBe('');
  });

  test('is also that of the time, but not an error that is known at once', async () => {
    const token = await here.push({ payload: 's' }, here.service.adminToken);
    const owner = here.under({ env: { ...here.admin, TERM: 'xterm-kitty' } });
    const late = await owner.run('wait', token, '--for', '1s', '--interval', '1');
    expect([late.code, late.stderr]).toEqual([
      12,
      expect.stringContaining('pwpush: the time limit ran out'),
    ]);
    expect((await owner.run('wait', 'nosuchpush12')).stderr).not.toContain('\u001b]');
  });
});

test.each([
  [{}, false],
  [{ WT_SESSION: 'x' }, true],
  [{ ConEmuANSI: 'ON' }, true],
  [{ VTE_VERSION: '7801' }, false],
  [{ VTE_VERSION: '7900' }, true],
  [{ TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.5.14' }, false],
  [{ TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.6.6' }, true],
  [{ TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '4.0' }, true],
  [{ TERM_PROGRAM: 'ghostty', TERM_PROGRAM_VERSION: '1.1.3' }, false],
  [{ TERM_PROGRAM: 'ghostty', TERM_PROGRAM_VERSION: '1.2.0' }, true],
  [{ TERM_PROGRAM: 'ghostty', TERM_PROGRAM_VERSION: '1.2.0', TMUX: 'x' }, false],
])('progress beside the window: %j', (env, expected) => {
  expect(showsProgress(env)).toBe(expected);
});
