// Services that do what ours does, as their documents have them started. Each function returns nothing where a part is
// missing.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, runOther, startOther } from './processes.mjs';

const found = (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;

/** The interface for programs uses no translation, so snappass runs without that library, too. */
const gunicorn = `
import sys, types
try:
    import flask_babel
    flask_babel.Babel(locale_selector=None)
except Exception:
    sys.modules['flask_babel'] = types.SimpleNamespace(Babel=lambda *a, **k: None, _=str)
`;

/** snappass from the folder of its source, on gunicorn and Redis as they come. */
export async function startSnappass(source) {
  if (!source || !found('redis-server') || !found('gunicorn')) return undefined;
  const redis = await startOther('redis', (port) => [
    ...['redis-server', '--bind', '127.0.0.1', '--port', `${port}`, '--dir', folder],
  ]);
  const config = join(folder, 'gunicorn.py');
  writeFileSync(config, gunicorn);
  const threads = ['--workers', '2', '--threads', '8', '--keep-alive', '60'];
  const web = await startOther(
    'snappass',
    (port) => [
      ...['gunicorn', '--config', config, '--chdir', source, ...threads],
      ...['--bind', `127.0.0.1:${port}`, 'snappass.main:app'],
    ],
    { NO_SSL: 'True', REDIS_PORT: `${redis.port}` },
  );
  const stop = async () => {
    await web.stop();
    await redis.stop();
  };
  return { kind: 'snappass', kept: 'in memory', port: web.port, stop };
}

/** PrivateBin from the folder of its source, on four processes of PHP's own server, with files. */
export async function startPrivateBin(source) {
  if (!source || !existsSync(join(source, 'index.php')) || !found('php')) return undefined;
  const configuration = join(folder, 'privatebin');
  mkdirSync(configuration);
  const settings = ['[main]', '[model]', 'class = Filesystem', '[model_options]'];
  settings.push(`dir = "${join(configuration, 'data')}"`, '[traffic]', 'limit = 0');
  writeFileSync(join(configuration, 'conf.php'), `;<?php exit;\n${settings.join('\n')}\n`);
  const php = ['php', '-d', 'opcache.enable_cli=1', '-t', source];
  const web = await startOther('PrivateBin', (port) => [...php, '-S', `127.0.0.1:${port}`], {
    CONFIG_PATH: configuration,
    PHP_CLI_SERVER_WORKERS: '4',
  });
  return { kind: 'PrivateBin', kept: 'in files, not synced', ...web };
}

/** Password Pusher from the folder of its source, after `bundle install`, on two processes of Puma and SQLite. */
export async function startPasswordPusher(source) {
  if (!source || !existsSync(join(source, 'config.ru')) || !found('bundle')) return undefined;
  const settings = {
    RAILS_ENV: 'production',
    RAILS_LOG_TO_STDOUT: '1',
    SECRET_KEY_BASE: randomBytes(64).toString('hex'),
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
  for (const words of [['db:prepare'], ['runner', user]]) {
    if ((await runOther([...inSource, 'rails', ...words], settings)) !== 0) return undefined;
  }
  const web = await startOther(
    'Password Pusher',
    (port) => [...inSource, 'puma', '--config', 'config/puma.rb', '--bind', `tcp://127.0.0.1:${port}`],
    settings,
  );
  // Rails has SQLite commit without a sync (`synchronous = NORMAL`); its API is the one that ours has.
  return { kept: 'in SQLite, not synced', ...web };
}

/** The mailbox server of magic-wormhole, which passes on a text without another server. */
export async function startMailbox() {
  if (!found('wormhole') || !found('twist3')) return undefined;
  const database = `--channel-db=${join(folder, 'mailbox.db')}`;
  const mailbox = await startOther('the mailbox', (port) => [
    ...['twist3', 'wormhole-mailbox', database, `--port=tcp:${port}:interface=127.0.0.1`],
  ]);
  return { relay: `ws://127.0.0.1:${mailbox.port}/v1`, ...mailbox };
}
