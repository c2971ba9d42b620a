import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needsPrograms } from '../helpers/needs';
import { makePerson, person, serving, shell } from '../helpers/program';

// The built program and the keyring of a desktop; test/profile/system-keyring.slow.test.ts has all that can go wrong.

const missing = needsPrograms('secret-tool', 'gnome-keyring-daemon', 'dbus-run-session');

const host = person();
const service = serving(host.env);

describe('the keyring (needs secret-tool and gnome-keyring)', missing, () => {
  test('has the token after login --keyring, and not after logout', async () => {
    const somebody = makePerson();
    const folder = (name: string) => {
      const path = join(somebody.folder, name);
      mkdirSync(path, { mode: 0o700 });
      return path;
    };
    const env = { ...somebody.env, XDG_RUNTIME_DIR: folder('run'), XDG_DATA_HOME: folder('data') };
    const work = `
      printf 'pw\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null
      printf %s "$TOKEN" | $PWPUSH login "$URL" --keyring --quiet
      cat "$PWPUSH_CONFIG_DIR/config.json"
      unset TOKEN
      $PWPUSH list --json
      $PWPUSH logout --quiet
      $PWPUSH list --json 2>&1 || echo "exit code $?"`;
    const told = { ...env, WORK: work, URL: service.url, TOKEN: service.token };
    const { stdout } = await shell(`dbus-run-session -- sh -c "$WORK"`, { env: told });
    expect(stdout).toContain('"keyring": true');
    expect(stdout).toMatch(/\}\[\]\n.*exit code 3\n$/s);
    expect(stdout).not.toContain(service.token);
    const kept = readFileSync(join(somebody.folder, 'config/config.json'), 'utf8');
    expect(kept).not.toContain('keyring');
  });
});
