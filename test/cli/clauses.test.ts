import { expect, test } from 'vitest';
import { adviceFor } from '../../src/cli/advice';
import { clause } from '../../src/cli/clauses';
import { type Fact, phrase, type Step } from '../../src/platform/errors';

// Words that depend on what they name; the others are a table, and the transcripts have them.

test.each<[Fact, string]>([
  [
    phrase('refused', 'No.', phrase('body-field', 'note', 'is too long')),
    'the instance refused the request: No.; --note is too long',
  ],
  [phrase('body-field', 'constructor', 'must not be'), 'constructor must not be'],
  [
    phrase('body-field', 'payload', 'Up to 1048576 bytes, now 2048 bytes'),
    'the text: Up to 1.0 MiB, now 2048 bytes',
  ],
  [phrase('body-line', '', 'Hi'), 'no content type, "Hi"'],
  [
    phrase('incomplete', 'pw.test', phrase('connection-failed', '')),
    'pw.test sent no complete response: the connection failed (no code)',
  ],
])('%j is %j', (fact, words) => {
  expect(clause(fact)).toBe(words);
});

test.each<[Step, string]>([
  [phrase('try-later'), 'try again later'],
  [
    phrase('renew-token', 'profile "work"', 'none'),
    'log in again with pwpush login, or use --anonymous to send none',
  ],
])('%j is %j', (step, text) => expect(adviceFor(step)).toEqual({ text }));
