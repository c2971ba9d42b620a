import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { eachInstance } from '../helpers/instance';

// What is said and printed: test/cases/push-each*.txt.

const here = eachInstance();

const piped = (stdin: string, ...argv: string[]) => here.under({ stdin }).run('push', '--each', ...argv);
const lines = (text: string) => text.trimEnd().split('\n');

describe('when standard output takes no more, no further line is begun,', () => {
  /** As many as are under way at once. */
  const AT_ONCE = 8;
  const under = (stdin: string, failing: { stdout: 'EPIPE'; stderr?: 'EPIPE' }) =>
    here.under({ stdin: stdin.repeat(200), failing });

  test('and of lines that failed that is told once', async () => {
    const { code, stderr } = await under('\n', { stdout: 'EPIPE' }).run('push', '--each');
    const told = lines(stderr).filter((line) => line.includes('standard output'));
    expect([code, told.length, lines(stderr).length <= AT_ONCE + 1]).toEqual([2, 1, true]);
  });

  test.each([[[]], [['--json']]])('and no link is lost: %j', async (more) => {
    const silent = under('line\n', { stdout: 'EPIPE', stderr: 'EPIPE' });
    const { code } = await silent.run('push', '--each', ...more);
    expect([code, here.asked.length <= AT_ONCE]).toEqual([1, true]);
    expect(Object.keys(here.rescued())).toHaveLength(here.asked.length);
  });

  test('and with --json each link stands in an error', async () => {
    const mute = under('line\n', { stdout: 'EPIPE' });
    const { code, stderr } = await mute.run('push', '--each', '--json');
    const errors = lines(stderr).map((line) => JSON.parse(line).error);
    const created = here.asked.length;
    expect(code).toBe(1);
    expect(errors.map(({ line }) => line)).toEqual([...Array(created).keys()].map((at) => at + 1));
    expect(new Set(errors.map(({ link }) => link)).size).toBe(created);
  });
});

describe('every option is applied, or refused before anything is sent', () => {
  // biome-ignore format: a table
  const refused = [
    '--env X', '--generate', '--file x', '--message x', '--raw', '--passphrase-out x', '--key-out x', '--qr', '--copy',
    '--here', '--host 0.0.0.0', '--port 1',
  ];
  const besides = ['text', '--kind file', '--host ', '--to -', '--token-file -'];

  test.each([...refused, ...besides])('%s is refused', async (line) => {
    expect([(await piped('a\n', ...line.split(' '))).code, here.asked]).toEqual([2, []]);
  });

  const limits = '--kind qr --expire 2d --views 3 --no-deletable --click';
  const others = '--passphrase-file FILE --name x --note x --notify a@b.example --locale de';

  test('the others are applied', async () => {
    writeFileSync(here.file('phrase'), 'sesame\n');
    const words = `${limits} ${others}`.replace('FILE', here.file('phrase')).split(' ');
    const { stdout } = await piped('a\n', '--dry-run', '--json', ...words);
    expect(JSON.parse(stdout).body.push).toEqual({
      payload: '***',
      kind: 'qr',
      expire_after_days: 2,
      expire_after_views: 3,
      deletable_by_viewer: false,
      retrieval_step: true,
      passphrase: '***',
      name: 'x',
      note: '***',
      notify_emails_to: 'a@b.example',
      notify_emails_to_locale: 'de',
    });
    const prompts = ['Passphrase:', 'Passphrase again:'].map((secret) => ({ secret, answer: 'x' }));
    const asked = here.under({ stdin: 'a\n', prompts });
    const typed = await asked.run('push', '--each', '--passphrase', '--dry-run', '--json');
    expect(JSON.parse(typed.stdout).body.push).toEqual({ payload: '***', passphrase: '***' });
  });

  test('the tests name every option of push', async () => {
    const { stdout } = await here.run('help', 'push');
    const [own = ''] = stdout.split('\nGlobal options');
    const names = [...own.matchAll(/^ {2}(?:-\w, )?--(\[no-\])?([\w-]+)/gm)].flatMap(([, no, name]) =>
      no ? [`--${name}`, `--no-${name}`] : [`--${name}`],
    );
    const applied = `${limits} ${others}`.match(/--\S+/g) ?? [];
    // What these do the tests above show, the transcripts, and those of encryption and into.
    const elsewhere =
      '--each --from --dry-run --accept-limits --passphrase --days --deletable --no-click ' +
      '--encrypt --no-encrypt --to --as --into';
    const named = [...refused.map((line) => line.split(' ')[0]), ...applied, ...elsewhere.split(' ')];
    expect([...names].sort()).toEqual(named.sort());
  });
});
