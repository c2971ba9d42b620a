import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { alsoBinary, makePerson, person, pwpush, serving } from '../helpers/program';
import { onTerminal } from '../helpers/pty';

const sender = person();
const recipient = person();
const service = serving(sender.env);

const linkOn = (screen: string) =>
  new RegExp(`${service.url}/p/[a-z0-9_-]+/r`).exec(screen)?.[0] ?? '';
const ENTER = '\r';
const CTRL_C = '\u0003';

describe('on a terminal', () => {
  test(
    'push asks for the secret and, twice, for the passphrase, and shows none of them',
    alsoBinary,
    async () => {
      const terminal = onTerminal('$PWPUSH push -p', sender.env);
      await terminal.shows('Secret:');
      terminal.type(`MARKER-secret${ENTER}`);
      await terminal.shows('Passphrase:');
      terminal.type(`MARKER-passphrase${ENTER}`);
      await terminal.shows('Passphrase again:');
      terminal.type(`MARKER-passphrase${ENTER}`);
      expect(await terminal.ended).toBe(0);
      expect(terminal.screen()).not.toContain('MARKER');
      expect(terminal.screen()).toContain('expires after 5 views or 7 days · passphrase required');
      const env = { ...recipient.env, PWPUSH_PASSPHRASE: 'MARKER-passphrase' };
      const got = await pwpush(['get', linkOn(terminal.screen())], { env });
      expect(got).toMatchObject({ code: 0, stdout: 'MARKER-secret' });
    },
  );

  test('several lines that are not marked as pasted are refused, not cut to the first', async () => {
    const before = await pwpush(['list', '--json'], { env: sender.env });
    const terminal = onTerminal('$PWPUSH push; cat >/dev/null', sender.env);
    await terminal.shows('Secret:');
    terminal.type('-----BEGIN KEY-----\rMARKER\r-----END KEY-----\r');
    await terminal.shows('the pasted text has several lines, and the prompt accepts one');
    terminal.type('\u0004');
    await terminal.ended;
    expect(terminal.screen()).not.toContain('MARKER');
    expect(await pwpush(['list', '--json'], { env: sender.env })).toEqual(before);
  });

  test('two passphrases that differ are asked for again, and the secret is not lost', async () => {
    const terminal = onTerminal('$PWPUSH push -p', sender.env);
    await terminal.shows('Secret:');
    terminal.type(`typed once${ENTER}`);
    await terminal.shows('Passphrase:');
    terminal.type(`one${ENTER}`);
    await terminal.shows('Passphrase again:');
    terminal.type(`other${ENTER}`);
    await terminal.shows("They don't match, try again:");
    terminal.type(`both${ENTER}`);
    await terminal.shows('Passphrase again:', 2);
    terminal.type(`both${ENTER}`);
    expect(await terminal.ended).toBe(0);
    const env = { ...recipient.env, PWPUSH_PASSPHRASE: 'both' };
    const got = await pwpush(['get', linkOn(terminal.screen())], { env });
    expect(got).toMatchObject({ code: 0, stdout: 'typed once' });
  });

  test(
    'Ctrl-C at a prompt ends with 130 and leaves the terminal as it was',
    alsoBinary,
    async () => {
      const line =
        'before=$(stty -g); $PWPUSH push; echo "status $?"; [ "$before" = "$(stty -g)" ] && echo restored';
      const terminal = onTerminal(line, sender.env);
      await terminal.shows('Secret:');
      terminal.type(CTRL_C);
      await terminal.shows('restored');
      await terminal.ended;
      expect(terminal.screen()).toContain('pwpush: interrupted\r\nstatus 130\r\nrestored');
    },
  );

  test.each([
    ['the secret', '$PWPUSH push', 'Secret:'],
    ['a passphrase, the secret being piped', 'echo s | $PWPUSH push -p', 'Passphrase:'],
    ['a token', '$PWPUSH login URL', 'API token (on your account page, under API):'],
  ])('Ctrl-D where %s is asked for ends with 130 too', async (_what, line, question) => {
    const terminal = onTerminal(line.replace('URL', service.url), sender.env);
    await terminal.shows(question);
    terminal.type('\u0004');
    expect(await terminal.ended).toBe(130);
    expect(terminal.screen()).toContain('pwpush: interrupted');
  });

  test('with nothing configured push offers two ways; Ctrl-C there leaves all as it was', async () => {
    const line =
      'before=$(stty -g); $PWPUSH push; echo "status $?"; [ "$before" = "$(stty -g)" ] && echo restored';
    for (const keys of [CTRL_C, '\u0004']) {
      const terminal = onTerminal(line, recipient.env);
      await terminal.shows('log in to an instance and push there');
      await terminal.shows('(--here)');
      terminal.type(keys);
      await terminal.shows('restored');
      await terminal.ended;
      expect(terminal.screen()).toContain('pwpush: interrupted\r\nstatus 130\r\nrestored');
    }
    expect(existsSync(recipient.env.PWPUSH_CONFIG_DIR ?? '')).toBe(false);
  });

  test('who logs in by what push offers ends with a link', async () => {
    const newcomer = makePerson();
    const terminal = onTerminal('$PWPUSH push', newcomer.env);
    await terminal.shows('log in to an instance and push there');
    terminal.type(ENTER);
    await terminal.shows('Address of the instance, such as https://eu.pwpush.com:');
    terminal.type(`${service.url}${ENTER}`);
    await terminal.shows('API token (on your account page, under API):');
    terminal.type(`wrong${ENTER}`);
    await terminal.shows('the instance refused the token; nothing was saved');
    await terminal.shows('Wrong token, try again:');
    terminal.type(`${service.token}${ENTER}`);
    await terminal.shows('Secret:');
    terminal.type(`MARKER-secret${ENTER}`);
    await terminal.shows('Passphrase (Enter for none):');
    terminal.type(ENTER);
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).not.toContain('MARKER');
    expect(terminal.screen()).not.toContain(service.token);
    const got = await pwpush(['get', linkOn(terminal.screen())], { env: recipient.env });
    expect(got).toMatchObject({ code: 0, stdout: 'MARKER-secret' });
  });

  test('get asks for a passphrase that is needed, again when it was wrong, and shows controls', async () => {
    const env = { ...sender.env, PWPUSH_PASSPHRASE: 'right' };
    const pushed = await pwpush(['push'], { env, input: 'a\u001b]52;c;eA==\u0007b\u202ec' });
    const terminal = onTerminal(`$PWPUSH get ${pushed.stdout.trim()}`, recipient.env);
    await terminal.shows('Passphrase:');
    terminal.type(`wrong${ENTER}`);
    await terminal.shows('Wrong passphrase, try again:');
    terminal.type(`right${ENTER}`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).toContain(
      'a\\x1b]52;c;eA==\\x07b\\u202ec\r\n4 views and 7 days left',
    );
    expect(terminal.screen()).not.toContain('\u001b]52');
  });

  test('nothing is asked with --no-input or in CI', async () => {
    const refused = 'pwpush: no secret to push, and no terminal to ask on';
    for (const line of ['$PWPUSH push --no-input', 'CI=1 $PWPUSH push']) {
      const terminal = onTerminal(line, sender.env);
      expect(await terminal.ended).toBe(2);
      expect(terminal.screen()).toContain(refused);
    }
  });

  test('a list is a table, in a pipe it is lines with tabs', alsoBinary, async () => {
    const terminal = onTerminal('$PWPUSH list', sender.env);
    await terminal.ended;
    expect(terminal.screen()).toContain('EXPIRES');
    const piped = onTerminal('$PWPUSH list | cat', sender.env);
    await piped.ended;
    expect(piped.screen()).toMatch(/^[a-z0-9_-]+\t\t\d{4}-/);
  });
});
