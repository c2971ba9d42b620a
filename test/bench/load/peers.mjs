// Services that do what ours does, as their documents have them started. Each function returns nothing where a part is
// missing.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, startOther } from './processes.mjs';

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
  return { kind: 'snappass', port: web.port, stop };
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
  return { kind: 'PrivateBin', ...web };
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
