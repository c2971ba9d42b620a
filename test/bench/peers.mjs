// pwpush beside programs that do the same, in turns: a push, a hand-over from the sender to the recipient, services under
// load and under eight readers at once. Peers that are not there are left out.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { folder, inTurns, launch, loader, middle, run, serve, table } from './runner.mjs';

const load = { connections: 16, seconds: 1.5 };
const [READERS, SECRETS] = [8, 1000];

/** The interface for programs uses no translation, so snappass runs without that library, too. */
const gunicorn = `
import sys, types
try:
    import flask_babel
    flask_babel.Babel(locale_selector=None)
except Exception:
    sys.modules['flask_babel'] = types.SimpleNamespace(Babel=lambda *a, **k: None, _=str)
`;

/** Starts a server that says nothing, on a free port, and waits until that is open. */
async function started(words, more) {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address();
  await new Promise((closed) => free.close(closed));
  const { stop } = launch(words(port), { more });
  const opens = () =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1').once('error', () => resolve(false));
      socket.once('connect', () => resolve(Boolean(socket.destroy())));
    });
  while (!(await opens())) await wait(20);
  return { port, stop };
}

/** Services as their documents have them started, from the folders of their sources, by the options that name those. */
const services = {
  /** On gunicorn and Redis as they come. */
  async snappass(source) {
    const redis = await started((port) => [
      'redis-server',
      '--bind',
      '127.0.0.1',
      '--port',
      `${port}`,
      '--dir',
      folder,
    ]);
    const config = join(folder, 'gunicorn.py');
    writeFileSync(config, gunicorn);
    const words = `gunicorn --config ${config} --chdir ${source} --workers 2 --threads 8 --keep-alive 60`.split(' ');
    const web = await started((port) => [...words, '--bind', `127.0.0.1:${port}`, 'snappass.main:app'], {
      NO_SSL: 'True',
      REDIS_PORT: `${redis.port}`,
    });
    const stop = () => Promise.all([web.stop(), redis.stop()]);
    return { name: 'snappass', kind: 'snappass', kept: 'in memory', port: web.port, stop };
  },
  /** On four processes of PHP's own server, with files. */
  async privatebin(source) {
    const configuration = join(folder, 'privatebin');
    mkdirSync(configuration);
    const settings = ['[main]', '[model]', 'class = Filesystem', '[model_options]'];
    settings.push(`dir = "${join(configuration, 'data')}"`, '[traffic]', 'limit = 0');
    writeFileSync(join(configuration, 'conf.php'), `;<?php exit;\n${settings.join('\n')}\n`);
    const php = ['php', '-d', 'opcache.enable_cli=1', '-t', source];
    const web = await started((port) => [...php, '-S', `127.0.0.1:${port}`], {
      CONFIG_PATH: configuration,
      PHP_CLI_SERVER_WORKERS: '4',
    });
    return { name: 'PrivateBin', kind: 'PrivateBin', kept: 'in files, not synced', ...web };
  },
  /** After `bundle install`, on two processes of Puma and SQLite, which Rails has commit without a sync. */
  async 'password-pusher'(source) {
    const more = {
      RAILS_ENV: 'production',
      SECRET_KEY_BASE: 'bench'.repeat(20),
      DATABASE_URL: `sqlite3:${join(folder, 'password-pusher.sqlite3')}`,
      WEB_CONCURRENCY: '2',
      RAILS_MAX_THREADS: '5',
      // Without them, it takes 60 requests a second from one address.
      PWP__THROTTLING__MINUTE: '',
      PWP__THROTTLING__SECOND: '',
    };
    const inSource = ['env', '-C', source, 'bundle', 'exec'];
    // It answers nobody before it has a first user.
    const user = "User.create!(email: 'bench@example.com', password: SecureRandom.base58)";
    for (const words of [['db:prepare'], ['runner', user]]) await run([...inSource, 'rails', ...words], { more });
    const puma = [...inSource, 'puma', '--config', 'config/puma.rb', '--bind'];
    const web = await started((port) => [...puma, `tcp://127.0.0.1:${port}`], more);
    return { name: 'Password Pusher', kept: 'in SQLite, not synced', ...web };
  },
};

/** The mailbox server of magic-wormhole, which passes on a text without another server. */
function startMailbox() {
  const words = ['twist3', 'wormhole-mailbox', `--channel-db=${join(folder, 'mailbox.db')}`];
  return started((port) => [...words, `--port=tcp:${port}:interface=127.0.0.1`]);
}

/** From the start of the sender until both have ended; the recipient starts when the code is there. */
async function wormhole(port) {
  const words = ['--relay-url', `ws://127.0.0.1:${port}/v1`];
  const began = performance.now();
  const env = { PATH: process.env.PATH, HOME: folder };
  const sender = spawn('wormhole', [...words, 'send', '--text', 'secret'], { env });
  const sent = once(sender, 'exit');
  for await (const line of createInterface({ input: sender.stderr })) {
    const code = /code is: (\S+)/.exec(line)?.[1];
    if (code) await run(['wormhole', ...words, 'receive', code]);
    if (code) break;
  }
  await sent;
  return { handOver: performance.now() - began };
}

/** Milliseconds of a push, and of a push and what takes it, by program. */
async function handOvers(programs, python, rounds) {
  const [first] = Object.values(programs);
  const { url, token, stop } = await serve(first, '--ephemeral');
  const more = { PWPUSH_URL: url, PWPUSH_TOKEN: token };
  const cases = Object.entries(programs).map(([name, program]) => ({
    name,
    async take() {
      const sent = await run([...program, 'push', '--views', '1'], { input: 'secret', more });
      const taken = await run([...program, 'get', sent.stdout], { more });
      return { push: sent.milliseconds, handOver: sent.milliseconds + taken.milliseconds };
    },
  }));
  if (python) {
    const client = python.split(' ');
    await run([...client, 'config', 'set', 'url', url]);
    const take = async () => ({ push: (await run([...client, 'push'], { input: 'secret' })).milliseconds });
    cases.push({ name: 'the Python client', take });
  }
  const hasWormhole = ['wormhole', 'twist3'].every((name) => spawnSync(name, ['--version']).status === 0);
  const mailbox = hasWormhole ? await startMailbox() : undefined;
  if (mailbox) cases.push({ name: 'magic-wormhole', take: () => wormhole(mailbox.port) });
  await inTurns([cases], { rounds });
  await mailbox?.stop();
  await stop();
  return cases;
}

/** What services do a second at 16 connections, and how often they give a secret twice to eight readers at once. */
async function underLoad(programs, sources) {
  const sides = [];
  for (const [name, program] of Object.entries(programs)) {
    const service = await serve(program, '--data', join(folder, `peer ${name}`), '--rate-limit', 'off');
    sides.push({ name, kept: 'synced', ...service });
  }
  for (const [option, start] of Object.entries(services)) {
    if (existsSync(sources[option] ?? '')) sides.push(await start(sources[option]));
    else console.error(`left out: --${option}`);
  }
  const clients = sides.map(({ kind }) => loader(kind));
  const job = (what) =>
    sides.map(({ name, port }, at) => ({
      name,
      take: async () => ({ [what]: (await clients[at].run(what, { ...load, port, views: 1 })).rate }),
    }));
  const groups = [job('create'), job('last')];
  await inTurns(groups, { rounds: 3, warm: 1 });
  for (const [at, { name, port, kept, stop }] of sides.entries()) {
    const { none, more } = await clients[at].run('race', { port, count: SECRETS, readers: READERS });
    if (none > 0) throw new Error(`${name} gave ${none} secrets to nobody`);
    sides[at] = { name, kept, results: [{ more }] };
    await clients[at].stop();
    await stop();
  }
  return [...groups.flat(), ...sides];
}

/** A table of all, by program. */
export async function peers(programs, { runs, ...options }) {
  const beside = await handOvers(programs, options['python-client'], runs);
  const cases = [...beside, ...(await underLoad(programs, options))];
  const columns = {
    push: 'a push, ms',
    handOver: 'a hand-over, ms',
    create: 'creations a second',
    last: 'takings a second',
    more: `of ${SECRETS.toLocaleString('en')}, given more than once`,
  };
  const rows = [...new Set(cases.map(({ name }) => name))].map((name) => {
    const own = cases.filter((one) => one.name === name);
    const figures = Object.keys(columns).map((column) => {
      const [value] = own.map((one) => middle(one, column)).filter((one) => one !== undefined);
      return value === undefined ? '–' : Math.round(value).toLocaleString('en');
    });
    return [name, ...figures, own.find(({ kept }) => kept)?.kept ?? '–'];
  });
  return table(['', ...Object.values(columns), 'kept'], rows);
}
