import { beforeAll, describe, expect, test } from 'vitest';
import { alsoBinary, person, pwpush, serving } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const sender = person();
const other = person();
const service = serving(sender.env);
let link: string;

beforeAll(async () => {
  const env = { ...sender.env, PWPUSH_PASSPHRASE: 'horse' };
  link = (await pwpush(['push'], { env, input: 's' })).stdout.trim();
});

/** All that asks somebody on a terminal, and how it ends where nobody is to be asked. */
const asking: [string, number][] = [
  ['$PWPUSH push', 2],
  ['$PWPUSH push text -p', 2],
  ['echo s | $PWPUSH push -p', 2],
  ['$PWPUSH get $LINK', 7],
  ['$PWPUSH get -p $LINK', 2],
  ['$PWPUSH run $LINK -- true', 7],
  ['$PWPUSH run -p $LINK -- true', 2],
  ['$PWPUSH login', 2],
  ['$PWPUSH login $URL', 2],
];

/** It would never end at a prompt: nobody types. */
async function alone(line: string, env: Record<string, string>) {
  const terminal = onTerminal(line, { ...env, LINK: link, URL: service.url });
  return { code: await terminal.ended, screen: terminal.screen() };
}

describe('on a terminal nothing prompts', () => {
  test.each(asking)('where CI is set: %s', async (line, code) => {
    const outcome = await alone(line, { ...other.env, PWPUSH_URL: service.url, CI: 'true' });
    expect({ code: outcome.code, asked: /\?|: $/.test(outcome.screen) }).toEqual({
      code,
      asked: false,
    });
  });

  test('with PWPUSH_NO_INPUT or --no-input', alsoBinary, async () => {
    const env = { ...other.env, PWPUSH_URL: service.url };
    expect((await alone('$PWPUSH push', { ...env, PWPUSH_NO_INPUT: '1' })).code).toBe(2);
    expect((await alone('$PWPUSH run --no-input $LINK -- true', env)).code).toBe(7);
  });

  test('and an option of the command that is run is none of ours', async () => {
    const env = { ...other.env, PWPUSH_URL: service.url };
    const terminal = onTerminal(`$PWPUSH run ${link} --as A -- echo --no-input`, env);
    await terminal.shows('Passphrase:');
    terminal.type('horse\r');
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain('--no-input');
  });
});
