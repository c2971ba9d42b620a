import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contents } from '../helpers/contents';
import { partOf } from '../helpers/long';
import { allOf, needsFile, needsRoot } from '../helpers/needs';
import { alsoBinary, binary, dist, ending, launcher, person, pushed, pwpush, serving, shell } from '../helpers/program';
import { overSocket } from '../helpers/sockets';

const sender = person();
const service = serving(sender.env);

let folder: string;
let env: Record<string, string>;
const at = (name: string) => join(folder, name);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pwpush-test-'));
  chmodSync(folder, 0o755);
  mkdirSync(at('tmp'));
  chmodSync(at('tmp'), 0o1777);
  env = {
    ...sender.env,
    HOME: at('home'),
    TMPDIR: at('tmp'),
    PWPUSH_CONFIG_DIR: at('config'),
    PWPUSH_STATE_DIR: at('state'),
  };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

const link = () => pushed(service, 'rescue me', { expire_after_views: 1 });

/** Runs the program in this process, whose user it has: what it finds and refuses is the same. */
const within = (words: string[], more: Record<string, string> = {}, stdin = '') =>
  overSocket(words, { env: { ...env, ...more }, stdin });

test.each(partOf(['000', '777'], 0))(
  'with umask %s the config file, a rescue file and a download are 0600, their folders 0700',
  allOf(needsFile('/dev/full'), alsoBinary),
  async (umask) => {
    const line = `umask ${umask}
      $PWPUSH profile set a days 3
      $PWPUSH get ${await link()} >/dev/full
      $PWPUSH get ${await link()} --output "$TMPDIR/secret"`;
    expect((await shell(line, { env })).code).toBe(0);
    const [rescued = ''] = readdirSync(at('state'));
    expect(readFileSync(at(`state/${rescued}`), 'utf8')).toBe('rescue me');
    expect(['config', 'state'].map((name) => mode(at(name)))).toEqual(['700', '700']);
    const files = ['config/config.json', `state/${rescued}`, 'tmp/secret'];
    expect(files.map((name) => mode(at(name)))).toEqual(['600', '600', '600']);
  },
);

const NOBODY = 65534;
const skipped = allOf(needsRoot, needsFile('/dev/full'));

describe('as a user without rights (needs root and /dev/full)', skipped, () => {
  /** A line of sh as the user nobody, or another one, who may read the program but not the folder it stands in. */
  async function asNobody(line: string, uid = NOBODY) {
    for (const part of binary ? [binary] : [dirname(launcher), dist])
      cpSync(part, at(part === binary ? 'pwpush' : part === dist ? 'dist' : 'bin'), {
        recursive: true,
      });
    const PWPUSH = binary ? at('pwpush') : `${process.execPath} ${at('bin/pwpush.js')}`;
    const options = { env: { ...env, PWPUSH }, cwd: folder, uid, gid: uid };
    const child = spawn('sh', ['-c', line], options);
    child.stdin.end();
    return ending(child);
  }

  function rescuedInTmp() {
    const [made = ''] = readdirSync(at('tmp'));
    const inside = at(`tmp/${made}`);
    const [name = ''] = readdirSync(inside);
    const { uid } = statSync(join(inside, name));
    return [mode(inside), mode(join(inside, name)), uid, readFileSync(join(inside, name), 'utf8')];
  }
  const kept = ['700', '600', NOBODY, 'rescue me'];

  test('a home that cannot be written is told of by name, and nothing else needs it', async () => {
    mkdirSync(at('home'));
    env = { ...env, PWPUSH_CONFIG_DIR: '', PWPUSH_STATE_DIR: '' };
    const set = await asNobody('$PWPUSH profile set a days 3');
    expect([set.code, set.stderr.split('\n')[0]]).toEqual([
      1,
      `pwpush: cannot create the folder "${at('home/.config/pwpush')}" (permission denied)`,
    ]);
    expect(await asNobody(`test "$($PWPUSH get ${await link()})" = "rescue me"`)).toMatchObject({
      code: 0,
    });
    const { code } = await asNobody(`$PWPUSH get ${await link()} >/dev/full`);
    expect([code, rescuedInTmp()]).toEqual([1, kept]);
  });

  /** Its entry has a folder that is not there, another user has no entry. */
  const noHome = [
    [NOBODY, 1, 'cannot create the folder "/nonexistent/.config/pwpush" (permission denied)'],
    [12345, 2, 'there is no config folder: HOME is not an absolute path, and the user has no home'],
  ] as const;

  test.each(['', '~', '.', 'rel'])(
    'a home "%s" and relative XDG folders are not those of the current folder',
    alsoBinary,
    async (home) => {
      const { url } = service;
      const evil = { url, 'token-command': `touch ${at('clone/ran')}` };
      for (const path of ['clone/.config/pwpush', `clone/${home}/.config/pwpush`]) {
        mkdirSync(at(path), { recursive: true });
        const profiles = JSON.stringify({ current: 'evil', profiles: { evil } });
        writeFileSync(at(`${path}/config.json`), profiles);
      }
      const { PATH = '', NO_PROXY = '' } = sender.env;
      env = { PATH, NO_PROXY, TMPDIR: at('tmp'), HOME: home, XDG_CONFIG_HOME: '.config' };
      for (const kind of ['STATE', 'DATA', 'CACHE']) env[`XDG_${kind}_HOME`] = 'own';
      const before = contents(at('clone'));
      // The runtime of the executable says that the home of an entry is that of HOME, where that is set.
      const [ofEntry, [other, ...none]] = noHome;
      const entry = binary && home !== '' ? ([NOBODY, ...none] as const) : ofEntry;
      for (const [uid, code, why] of [entry, [other, ...none] as const]) {
        for (const path of ['.', ...readdirSync(at('clone'), { recursive: true, encoding: 'utf8' })])
          chownSync(at(`clone/${path}`), uid, uid);
        const line = async (words: string) => asNobody(`cd clone; ${words}`, uid);
        const list = await line(`$PWPUSH list --url ${url}`);
        expect([existsSync(at('clone/ran')), list.code, list.stderr]).toEqual([
          ...[false, 3, expect.not.stringContaining('evil')],
        ]);
        const push = await line(`echo s | $PWPUSH push --url ${url}`);
        expect([push.code, push.stdout]).toEqual([0, expect.stringMatching(/^http/)]);
        const get = await line(`$PWPUSH get ${await link()}`);
        expect([get.code, get.stdout]).toEqual([0, expect.stringContaining('rescue me')]);
        expect((await line(`$PWPUSH get ${await link()} >/dev/full`)).code).toBe(1);
        expect(rescuedInTmp()).toEqual(['700', '600', uid, 'rescue me']);
        rmSync(at('tmp'), { recursive: true });
        mkdirSync(at('tmp'));
        chmodSync(at('tmp'), 0o1777);
        const set = await line('$PWPUSH profile set a days 3');
        expect([set.code, set.stderr]).toEqual([code, expect.stringContaining(why)]);
      }
      expect(contents(at('clone'))).toEqual(before);
    },
  );

  test.each([
    ['of another user', 'state'],
    ['that is a link to one of another user', 'theirs'],
  ])('a state folder %s is not used', alsoBinary, async (_, place) => {
    mkdirSync(at(place));
    chmodSync(at(place), 0o777);
    if (place !== 'state') symlinkSync(at(place), at('state'));
    await asNobody(`$PWPUSH get ${await link()} >/dev/full`);
    expect([rescuedInTmp(), readdirSync(at(place))]).toEqual([kept, []]);
  });

  test('a config file that cannot be read, or not be written, is told of', async () => {
    mkdirSync(at('config'));
    writeFileSync(at('config/config.json'), '{"profiles":{}}', { mode: 0o600 });
    const closed = await asNobody('$PWPUSH profile list');
    expect([closed.code, closed.stderr]).toEqual([1, expect.stringMatching(/cannot read .*: permission denied/)]);
    chmodSync(at('config/config.json'), 0o644);
    const { code, stderr } = await asNobody('$PWPUSH profile set a days 3');
    expect([code, stderr]).toEqual([1, expect.stringContaining('permission denied')]);
    expect(readFileSync(at('config/config.json'), 'utf8')).toBe('{"profiles":{}}');
  });
});

// Which files are foreign: test/platform/owner.test.ts.
describe('what another user prepared is not used (needs root)', skipped, () => {
  const prepare = (path: string, uid: number, mode: number) => {
    chownSync(path, uid, uid);
    chmodSync(path, mode);
  };

  test.each([
    [NOBODY, 0o755, 'belongs to another user', () => 'make it yours with chown'],
    [0, 0o777, 'is open to other users', (path: string) => `run chmod go-w '${path}'`],
  ])('a config file or folder runs and sends nothing: of %i, %o', async (uid, mode, why, fix) => {
    const ran = at('ran');
    const evil = { url: sender.env.PWPUSH_URL, 'token-command': `touch ${ran}` };
    mkdirSync(at('config'), { mode: 0o700 });
    const file = at('config/config.json');
    writeFileSync(file, JSON.stringify({ current: 'evil', profiles: { evil } }), { mode: 0o600 });
    for (const [path, is, was] of [
      [file, 'the config file', 0o600],
      [at('config'), 'the folder of the config file', 0o700],
    ] as const) {
      prepare(path, uid, mode);
      const { code, stderr } = await within(['list']);
      expect([code, existsSync(ran), stderr]).toEqual([
        2,
        false,
        `pwpush: ${is} "${path}" ${why}\nhint: ${fix(path)}, or set PWPUSH_CONFIG_DIR to another folder\n`,
      ]);
      prepare(path, 0, was);
    }
    prepare(at('config'), uid, mode);
    const write = await within(['profile', 'set', 'a', 'days', '3']);
    expect(write.code).toBe(2);
  });

  test('the state folder gives no receipt and takes none', async () => {
    const here = { PWPUSH_CONFIG_DIR: sender.env.PWPUSH_CONFIG_DIR ?? '' };
    const push = () => within(['push'], here, 'x');
    expect((await push()).code).toBe(0);
    prepare(at('state'), 0, 0o777);
    const { code, stderr } = await within(['preview', 'last'], here);
    expect([code, stderr]).toEqual([2, expect.stringContaining('is open to other users')]);
    const kept = () => readFileSync(at('state/receipts.jsonl'), 'utf8');
    const before = kept();
    expect([(await push()).code, kept()]).toEqual([0, before]);
    prepare(at('state'), 0, 0o700);
    prepare(at('state/receipts.jsonl'), 0, 0o666);
    const last = await within(['preview', 'last'], here);
    expect([last.code, last.stderr]).toEqual([2, expect.stringContaining('is open to other')]);
    expect([(await push()).code, kept()]).toEqual([0, before]);
  });

  test('the private key of a request opens nothing', async () => {
    const here = { PWPUSH_CONFIG_DIR: sender.env.PWPUSH_CONFIG_DIR ?? '' };
    const { stdout } = await within(['request', 'Which?'], here);
    const [name = ''] = readdirSync(at('state/requests'));
    prepare(at(`state/requests/${name}`), NOBODY, 0o644);
    const { code, stderr } = await within(['get', stdout.trim()], here);
    expect([code, stderr]).toEqual([2, expect.stringContaining('belongs to another user')]);
  });

  test.each([
    [NOBODY, 0o755, true],
    [0, 0o777, false],
    [0, 0o770, true],
  ])('the data of a service are, if only owner and group can write: %i, %o', async (...row) => {
    const [uid, mode, used] = row;
    mkdirSync(at('data'));
    prepare(at('data'), uid, mode);
    // Without a database it fails all the same.
    const { code, stderr } = await within(['serve', 'token', 'list', '--data', at('data')]);
    const refused = stderr.includes(`the data folder "${at('data')}"`);
    expect([code === 2, refused, readdirSync(at('data'))]).toEqual([!used, !used, []]);
  });

  test('root acts on the data of a service as its owner, and serves as itself only', async () => {
    for (const name of ['data', 'of-root']) mkdirSync(at(name));
    const serve = (...words: string[]) => pwpush(['serve', ...words, '--data', at('data')], { env });
    expect((await serve('token', 'add', 'ann', '--create')).code).toBe(0);
    const files = readdirSync(at('data'));
    renameSync(at('data/pwpush.db'), at('of-root/pwpush.db'));
    prepare(at('of-root'), 0, 0o700);
    prepare(at('data'), NOBODY, 0o700);
    symlinkSync(at('of-root/pwpush.db'), at('data/pwpush.db'));
    lchownSync(at('data/pwpush.db'), NOBODY, NOBODY);
    expect((await serve('token', 'list')).stderr).toContain('EACCES');
    rmSync(at('data'), { recursive: true });
    mkdirSync(at('data'));
    prepare(at('data'), NOBODY, 0o700);
    expect((await serve('token', 'add', 'ann', '--create')).code).toBe(0);
    const owners = readdirSync(at('data')).map((name) => statSync(at(`data/${name}`)).uid);
    expect([files.length > 0, new Set(owners)]).toEqual([true, new Set([NOBODY])]);
    const { code, stderr } = await serve('--port', '0');
    expect([code, stderr]).toEqual([
      2,
      `pwpush: the data folder "${at('data')}" belongs to another user\nhint: run this as its owner, or choose another folder with --data\n`,
    ]);
  });
});
