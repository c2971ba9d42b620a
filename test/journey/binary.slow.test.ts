import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createServer } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { answerJson, listen, rawServer } from '../helpers/listen';
import { binary, dist, onBinary, person, pwpush } from '../helpers/program';
import { cert, key } from '../server/certificate';

// The executable takes nothing from the folder it runs in, the home, or variables of its runtime. The tests of
// `npm run binary` only; CONTRIBUTING.md says how to run them.

const somebody = person();
const here = join(somebody.folder, 'here');
const cracked = join(somebody.folder, 'cracked');

/** Says that it ran, in every way that a runtime can read it. */
const code = `require('node:fs').writeFileSync(${JSON.stringify(cracked)}, 'ran'); process.env.PWPUSH_URL = 'http://127.0.0.1:1';`;
const settings = 'PWPUSH_URL=http://127.0.0.1:1\nPWPUSH_TOKEN=planted\n';

/** Files that a runtime may look for, with what would show that it did. */
const planted: Record<string, string> = {
  '.env': settings,
  '.env.development': settings,
  '.npmrc': 'node-options=--require=./code.cjs\n',
  'code.cjs': code,
  'bunfig.toml':
    'preload = ["./code.cjs"]\nsmol = true\n[run]\nbun = true\n[define]\n"process.env.PWPUSH_URL" = "\'http://127.0.0.1:1\'"\n',
  'tsconfig.json': '{"compilerOptions":{"baseUrl":".","paths":{"*":["./code.cjs"]}}}',
  'package.json': '{"type":"module","main":"code.cjs","imports":{"#x":"./code.cjs"},"bun":{"preload":"./code.cjs"}}',
  'node_modules/libsql/index.js': code,
  'node_modules/undici/index.js': code,
  'dist/start.js': code,
};

async function plant(folder: string): Promise<void> {
  for (const [name, text] of Object.entries(planted)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

const script = join(here, 'code.cjs');
/** Variables by which a runtime loads code, becomes another program, or reports what it does. */
const variables: Record<string, string> = {
  BUN_OPTIONS: `--preload=${script}`,
  // It would be a runtime of other programs.
  BUN_BE_BUN: '1',
  BUN_INSPECT: `ws+unix://${join(somebody.folder, 'inspect.sock')}`,
  BUN_INSPECT_PRELOAD: script,
  BUN_CONFIG_VERBOSE_FETCH: 'curl',
  BUN_JSC_dumpOptions: '3',
  BUN_JSC_functionOverrides: join(here, 'overrides'),
  BUN_CONFIG_PRELOAD: script,
  NODE_OPTIONS: `--require=${script}`,
  NODE_PATH: join(here, 'node_modules'),
  NODE_ENV: 'development',
  NODE_DEBUG: '*',
  SSLKEYLOGFILE: join(somebody.folder, 'tls-keys'),
};

const instance = () =>
  rawServer((socket) => {
    answerJson(socket, '{"api_version":"2.1","application_version":"1.0","edition":"oss"}');
    socket.end();
  });

describe('an executable (PWPUSH_TEST_BINARY)', onBinary, () => {
  const outcome = async (env: Record<string, string>) => {
    const asked = await instance();
    const { code, stdout, stderr } = await pwpush(['version', '--json'], {
      env: { PWPUSH_URL: asked.url, PWPUSH_TOKEN: 'T0ken', ...env },
      cwd: here,
    });
    await asked.close();
    const { port } = new URL(asked.url);
    return {
      code,
      stdout: stdout.replaceAll(port, 'PORT'),
      stderr,
      requests: asked.requests.map((text) => text.replaceAll(port, 'PORT').toLowerCase()),
    };
  };
  /** Without any variable of a home: the environment of a container. */
  const bare = { PWPUSH_CONFIG_DIR: join(somebody.folder, 'config') };

  let expected: Awaited<ReturnType<typeof outcome>>;
  beforeAll(async () => {
    await mkdir(here, { recursive: true });
    expected = await outcome(bare);
  });

  test('takes nothing from the current folder or the home', async () => {
    expect(expected).toMatchObject({ code: 0, stderr: '' });
    expect(expected.requests[0]).toContain('authorization: bearer t0ken');
    await plant(here);
    expect(await outcome({ ...bare, HOME: here, XDG_CONFIG_HOME: here })).toEqual(expected);
    expect(() => readFileSync(cracked)).toThrow('ENOENT');
  });

  test.each(Object.entries(variables))('takes nothing from %s', async (name, value) => {
    await plant(here);
    expect(await outcome({ ...bare, [name]: value })).toEqual(expected);
    expect(() => readFileSync(cracked)).toThrow('ENOENT');
    expect(() => readFileSync(join(somebody.folder, 'tls-keys'))).toThrow('ENOENT');
  });

  test('writes no keys of TLS, and names no place to send a crash to, and no folder of its build', async () => {
    const { port } = await listen(createServer({ cert, key }).on('tlsClientError', () => {}));
    const keys = join(somebody.folder, 'keys');
    const env = { ...bare, PWPUSH_URL: `https://127.0.0.1:${port}`, SSLKEYLOGFILE: keys };
    // The keys are agreed on before the certificate is refused.
    expect((await pwpush(['version'], { env })).stderr).toContain('certificate');
    expect(existsSync(keys)).toBe(false);
    const bytes = readFileSync(binary ?? '');
    const names = ['BUN_OPTIONS', 'BUN_BE_BUN', 'BUN_JSC_', 'https://bun.report'];
    // The HTTP parser was read from there, and was missing on every other machine.
    expect([...names, dist.replace(/\/$/, '')].filter((one) => bytes.includes(one))).toEqual([]);
  });
});
