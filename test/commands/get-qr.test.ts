import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Instance, instance } from '../helpers/instance';
import { read } from '../helpers/qr';

let here: Instance;
beforeEach(async () => {
  here = await instance();
});
afterEach(() => here.close());

const WIFI = 'WIFI:T:WPA;S:Büro;P:p\u001bass;;';
const watched = ['stdout', 'stderr'] as const;

describe('get --qr', () => {
  test('draws the text on standard output instead of printing it', async () => {
    const token = await here.push({ payload: WIFI });
    const { stdout, ...rest } = await here.under({ terminals: watched }).run('get', token, '--qr');
    expect(rest).toEqual({ code: 0, stderr: '4 views and 7 days left\n' });
    expect(stdout).toContain('\u001b[38;5;16;48;5;231m');
    expect(read(stdout)).toBe(WIFI);
  });

  test('in a pipe, or without colours, its blocks are the light modules', async () => {
    const token = await here.push({ payload: WIFI });
    const piped = await here.run('get', token, '--qr');
    const world = { terminals: watched, env: { NO_COLOR: '1' } };
    const plain = await here.under(world).run('get', token, '--qr');
    for (const { stdout } of [piped, plain]) {
      expect(stdout).not.toContain('\u001b');
      expect(read(stdout, { ink: 'light' })).toBe(WIFI);
    }
  });

  test.each([
    ['the terminal is too narrow', WIFI, 20, 'too narrow for the QR code: it needs 33 columns'],
    ['the text is too long', 'x'.repeat(2954), 500, 'too long for a QR code, which holds 2953'],
  ])('prints the text where %s, and says so', async (_, payload, columns, why) => {
    const token = await here.push({ payload });
    const world = { terminals: watched, columns };
    const { code, stdout, stderr } = await here.under(world).run('get', token, '--qr');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${payload.replace('\u001b', '\\x1b')}\n`,
    });
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(why);
  });

  test('saves the text, not the drawing, when that cannot be written', async () => {
    const token = await here.push({ payload: WIFI, expire_after_views: 1 });
    const { code } = await here.under({ failing: { stdout: 'ENOSPC' } }).run('get', token, '--qr');
    expect(code).toBe(1);
    expect(Object.values(here.rescued())).toEqual([WIFI]);
  });
});
