import { expect, test } from 'vitest';
import { CliError, type ErrorDetails } from '../../src/platform/errors';

/** One of each field, so that a new one is missed here too. */
const details: Required<ErrorDetails> = {
  subject: 'link 2',
  hints: ['a step'],
  status: 500,
  cause: new Error('cause'),
  unread: Buffer.from('body'),
  passes: true,
  wantsProof: { sent: true, salt: undefined, elsewhere: false },
  remains: { link: 'https://pw.test/p/x' },
  line: 7,
};

test('a changed failure keeps every other field, and the original as its cause', () => {
  const failure = new CliError('failed', 'message', details);
  const { cause: _, ...kept } = details;
  const changed = failure.with({ facts: 'changed' });
  expect(changed).toMatchObject({ code: 'failed', facts: ['changed'], ...kept });
  expect(changed.cause).toBe(failure);
  const another = { code: 'usage', facts: ['message'], ...kept } as const;
  expect(failure.with({ code: 'usage' })).toMatchObject(another);
  // A field is removed by undefined.
  expect(failure.with({ status: undefined })).toMatchObject({ ...kept, status: undefined });
});
