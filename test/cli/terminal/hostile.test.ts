import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { width } from '../../../src/cli/terminal/text-width';
import { partOf, times } from '../../helpers/long';
import { AUDITED, CREATED, changed, RETRIEVED, VERSION } from '../../helpers/reference';
import { type Conditions, place } from '../../helpers/run';
import { answering, json } from '../../helpers/wire';

// Whatever an instance says reaches a terminal as visible, harmless text in columns that hold.

/** What a terminal acts on, what reorders a line, and what nobody sees; line ends and tabs are looked at apart. */
const harmful =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufff9-\ufffb]|(?![\ufe00-\ufe0f\u{e0100}-\u{e01ef}])\p{Default_Ignorable_Code_Point}|\p{Surrogate}/u;

const attack = fc.oneof(
  fc.constantFrom(
    '\u001b[2J\u001b[H',
    '\u001b]8;;https://evil.test\u001b\\good\u001b]8;;\u001b\\',
    '\u001b]52;c;aGFoYQ==\u0007',
    '\u009b31m\u0090q\u009c',
    'invoice\u202efdp.exe',
    '\u2066\u2067\u2068\u2069\u200e\u200f\u061c',
    'a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u3164h\u115f\uffa0\u034f',
    'one\rtwo\ntrue\ttabbed\u000bx\u000cy\u0085z',
    'a\u0300\u0301\u0302'.repeat(40),
    '\ud800\udc00\ud800',
    '漢字'.repeat(60),
    'x'.repeat(64 * 1024),
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const hostile = fc.array(attack, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''));

/** Looking at a text that long takes a while. */
const huge = 'x'.repeat(1024 * 1024);

const onTerminal: Conditions = { terminals: ['stdout', 'stderr'] };

/** Runs a line, on a terminal of 80 columns if nothing else is said, against an instance that gives that answer. */
async function shown(
  line: string,
  status: number,
  body: string,
  { env, terminals }: Conditions = onTerminal,
  type = 'application/json',
) {
  const here = place({
    terminals: terminals ?? [],
    stdin: 'secret',
    env: { PWPUSH_URL: 'https://pw.test', PWPUSH_TOKEN: 't0ken', ...env },
    send: async ({ url }) => {
      if (url.endsWith('/file')) return answering(json(200, 'content'));
      const end = url.includes('/audit') ? '{"logs":[]}' : '[]';
      const said = /page=[2-9]/.test(url) ? end : body;
      return answering(json(status, said, { 'content-type': type }));
    },
  });
  try {
    return await here.run(...line.replace('FOLDER', here.folder).split(' '), '--no-color');
  } finally {
    here.close();
  }
}

function clean({ stdout, stderr }: { stdout: string; stderr: string }) {
  expect(stdout + stderr).toMatch(/./);
  expect(stdout + stderr).not.toMatch(harmful);
}

const ofPush = ['name', 'note', 'created_at', 'expired_on', 'expire_after_days', 'passphrase'];
const ofEvent = ['ip', 'user_agent', 'referrer', 'kind', 'created_at'];
const [push, event] = [JSON.parse(CREATED), JSON.parse(AUDITED).logs[0]];

describe('on a terminal', () => {
  const seen = (numRuns: number) => ({ numRuns: times(numRuns) });

  test.each<[string, string[], object, (all: object[]) => object]>([
    ['list', ofPush, push, (all) => all],
    ['audit abc', ofEvent, event, (logs) => ({ logs })],
  ])('%s keeps its lines and columns', async (line, fields, row, listed) => {
    const spoilt = fc.dictionary(fc.constantFrom(...fields), hostile);
    await fc.assert(
      fc.asyncProperty(fc.array(spoilt, { minLength: 1, maxLength: 4 }), async (all) => {
        const body = JSON.stringify(listed(all.map((one) => ({ ...row, ...one }))));
        const outcome = await shown(line, 200, body);
        clean(outcome);
        const rows = outcome.stdout.split('\n').slice(0, -1);
        expect(rows).toHaveLength(all.length + 1);
        // Every cell is cut to what is honest.
        for (const one of rows) expect(width(one)).toBeLessThanOrEqual(5 * 48 + 4 * 2);
      }),
      {
        ...seen(40),
        examples: [[[Object.fromEntries(fields.map((field) => [field, huge]))]]],
      },
    );
  });

  test('errors, versions, links and messages show what they hold', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        for (const status of [400, 401, 404, 422, 429, 500]) {
          clean(await shown('push', status, JSON.stringify({ error: text })));
          clean(await shown('push', status, text, onTerminal, 'text/html'));
        }
        clean(await shown('version', 200, changed(VERSION, { edition: text, api_version: text })));
        clean(await shown('preview abc', 200, JSON.stringify({ url: `https://x.test/${text}` })));
        clean(await shown('push', 201, changed(CREATED, { html_url: `https://x.test/${text}` })));
        clean(await shown('list --json', 200, `[${changed(CREATED, { name: text })}]`));
      }),
      seen(20),
    );
  });

  test('a text keeps its lines, and nothing in them acts; in a pipe it is there to the byte', async () => {
    const whole = hostile.filter((text) => !/\p{Surrogate}/u.test(text) && text.trim() !== '');
    await fc.assert(
      fc.asyncProperty(whole, async (text) => {
        const body = changed(RETRIEVED, { payload: text });
        clean(await shown('get abc', 200, body));
        expect((await shown('get abc', 200, body, {})).stdout === text).toBe(true);
      }),
      seen(30),
    );
  });

  test('files are told by harmless names', async () => {
    const files = fc.array(hostile, { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(files, async (names) => {
        const offered = names.map((filename) => ({ filename, url: 'https://pw.test/file' }));
        const body = changed(RETRIEVED, { files: offered });
        const outcome = await shown('get abc --output FOLDER/x/', 200, body);
        // The meter clears its own line.
        const stderr = outcome.stderr.replaceAll('\u001b[K', '').replaceAll('\r', '');
        clean({ ...outcome, stderr });
      }),
      seen(20),
    );
  });
});

/** What runners of GitHub, Azure and TeamCity obey: at the start of a line the one, anywhere in it the others. */
const commands = [
  '::stop-commands::pwn',
  '  ::set-output name=a::b',
  '##[add-path]/evil',
  'a ##vso[task.setvariable variable=A]b',
  '##VSO[task.complete]',
  "##teamcity[setParameter name='env.A' value='b']",
];
const statuses = [200, 404, 422] as const;
const obeyed = /^\s*::[^\n]*::|##(\[|vso\[|teamcity\[)/im;

const jobs = [...[{ CI: 'true' }, { GITHUB_ACTIONS: 'true' }, { TF_BUILD: 'True' }], { TEAMCITY_VERSION: '2026.1' }];

describe.each(partOf(jobs, 0))('in a CI job (%j)', (job) => {
  const told = (line: string, status: number, body: string) => shown(line, status, body, { env: job });

  // biome-ignore format: a table
  const lines = [
    'list', 'audit abc', 'preview abc', 'version', 'get abc', 'push', 'expire abc', 'doctor', 'get abc --output -',
    'list --json',
  ];

  test.each(lines)('%s writes no command that the runner obeys', async (line) => {
    const printed: string[] = [];
    for (const [at, command] of commands.entries()) {
      // Neither is fetched: from https nothing leads down to http.
      const file = { filename: command, content_type: 'x/y', url: 'http://pw.test/f' };
      const said = { error: command, message: command, edition: command, url: command };
      const one = {
        ...push,
        name: command,
        note: command,
        url_token: command,
        expired_on: command,
        payload: '',
        files: [file, file],
        ...said,
        logs: [{ kind: command, ip: command, user_agent: command }],
      };
      for (const [nth, body] of [one, [one], said].entries()) {
        // Each command comes with each status, and each body too.
        const status = statuses[(at + nth) % 3] ?? 200;
        const { stdout, stderr } = await told(line, status, JSON.stringify(body));
        expect(stdout + stderr).not.toMatch(obeyed);
        printed.push(stdout, stderr);
      }
    }
    expect(printed.join('')).toMatch(/stop-commands|set-output|add-path|setvariable|task\.complete|setParameter/);
  });

  test('JSON writes none either, and says the same; a secret is there to the byte', async () => {
    for (const command of commands) {
      const listed = await told('list --json', 200, `[${changed(CREATED, { name: command })}]`);
      expect(listed.stdout).not.toMatch(obeyed);
      expect(JSON.parse(listed.stdout)[0].name).toBe(command);
      const { stdout } = await told('get abc', 200, changed(RETRIEVED, { payload: command }));
      expect(stdout).toBe(command);
    }
  });
});
