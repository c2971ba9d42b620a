import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { failureText } from '../../src/cli/report-error';
import { CliError, type ErrorCode, ExitWith, exitStatus, statusOf } from '../../src/platform/errors';

const plain = { json: false, debug: false };
const SECRET = 'hunter2-of-the-user';
const foreign: [string, () => unknown][] = [
  ['a TypeError', () => new TypeError(SECRET)],
  ['an Error with a cause', () => new Error(SECRET, { cause: new Error(SECRET) })],
  ['an AggregateError', () => new AggregateError([new Error(SECRET)], SECRET)],
  ['a text', () => SECRET],
  ['an object', () => ({ message: SECRET, stack: SECRET })],
  ['an Error with a code', () => Object.assign(new Error(SECRET), { code: 'ERR_X' })],
];

describe('an error that is not ours', () => {
  test.each(foreign)('%s never tells its message, and a stack only with --debug', (_name, make) => {
    const error = make();
    for (const json of [false, true]) {
      const text = failureText(error, { json, debug: false });
      expect(text).not.toContain(SECRET);
      expect(text).not.toMatch(/^\s+at /m);
      expect(text).toContain('this is a bug in pwpush');
    }
    const debugged = failureText(error, { json: false, debug: true });
    expect(debugged).not.toContain(SECRET);
    if (error instanceof Error) expect(debugged).toMatch(/^debug: \w+.*\n\s+at /m);
    expect(statusOf(error)).toBe(1);
  });

  test('of the system says call, path and code', () => {
    const error = Object.assign(new Error(SECRET), { code: 'EACCES', syscall: 'open', path: '/x' });
    expect(failureText(error, plain)).toBe('pwpush: open /x: EACCES\n');
  });
});

// What it says is told by transcripts.
test('an error of ours stays on its lines, whatever it quotes', () => {
  const codes = fc.constantFrom(...(Object.keys(exitStatus) as ErrorCode[]));
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(codes, text, text, (code, message, hint) => {
      const one = new CliError(code, message, { hints: hint });
      expect(failureText(one, plain).split('\n')).toHaveLength(3);
      expect(failureText(one, { json: true, debug: false }).split('\n')).toHaveLength(2);
      expect(statusOf(one)).toBe(exitStatus[code]);
    }),
  );
});

test('prints nothing for an error that was reported already', () => {
  expect([failureText(new ExitWith(4), plain), statusOf(new ExitWith(4))]).toEqual(['', 4]);
});
