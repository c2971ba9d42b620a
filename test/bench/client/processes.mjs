// Processes whose time and memory are taken: nothing of the caller's environment gets into them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const script = fileURLToPath(new URL('../../../bin/pwpush.js', import.meta.url));

/** Runs `work` with a service in memory, on `node`, and what starts processes of the same Node. */
export async function withService(node, work) {
  const folder = mkdtempSync(join(tmpdir(), 'pwpush-bench-'));
  // NODE_EXTRA_CA_CERTS, for one, costs Node 20 50 ms a start wherever it is set.
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PWPUSH_CONFIG_DIR: join(folder, 'config'),
    PWPUSH_STATE_DIR: join(folder, 'state'),
    NO_PROXY: '*',
  };
  const words = ['serve', '--ephemeral', '--max-views', '1000000', '--port', '0', '--json', '--quiet'];
  const stdio = ['ignore', 'pipe', 'inherit'];
  const child = spawn(node, [script, ...words], { env, stdio });
  process.once('exit', () => child.kill());
  const line = await new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
  const { url, token } = JSON.parse(line);
  // A profile, as most people have it, and not variables.
  const stored = { current: 'bench', profiles: { bench: { url, token } } };
  mkdirSync(env.PWPUSH_CONFIG_DIR);
  writeFileSync(join(env.PWPUSH_CONFIG_DIR, 'config.json'), JSON.stringify(stored), {
    mode: 0o600,
  });

  /** Runs once; answers milliseconds and stdout. */
  function run(command, input = '', more = {}) {
    const start = process.hrtime.bigint();
    const options = { env: { ...env, ...more }, input, encoding: 'utf8', maxBuffer: 1 << 28 };
    const { status, stdout, stderr } = spawnSync(command[0], command.slice(1), options);
    const milliseconds = Number(process.hrtime.bigint() - start) / 1e6;
    if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stderr}`);
    return { milliseconds, stdout: stdout.trim() };
  }

  /** Runs once, which takes a millisecond more; answers the MiB it took at most, too, as GNU time tells. */
  function weigh(command, ...more) {
    const told = join(folder, 'peak');
    const result = run(['time', '--format', '%M', '--output', told, ...command], ...more);
    return { ...result, mib: Number(readFileSync(told, 'utf8')) / 1024 };
  }

  const peak = (...words) => weigh(...words).mib;

  const pwpush = (...argv) => [node, script, ...argv];
  const { stdout: version } = run([node, '--version']);
  try {
    return await work({ version: version.slice(1), node, url, token, run, weigh, peak, pwpush });
  } finally {
    child.kill('SIGTERM');
    // It writes there until it has ended.
    await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

export const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

/** A table in Markdown; columns after the first are numbers. */
export function table(head, rows) {
  const all = [head, head.map((_, at) => (at === 0 ? '---' : '--:')), ...rows];
  return all.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
