import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Api } from '../../src/client/client';
import { findLink } from '../../src/client/link';
import { CliError } from '../../src/errors';

const api = (preview: () => Promise<{ url: string }>) => ({ preview }) as unknown as Api;
const failing = api(async () => {
  throw new CliError('failed', 'no');
});

test('whatever the instance answers, a link comes back: one line that is an http address', async () => {
  const anything = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
    fc.constant(null),
    fc.constant(undefined),
    fc.string().map((text) => `https://pw.test/p/${text}`),
  );
  await fc.assert(
    fc.asyncProperty(anything, anything, fc.boolean(), async (html_url, url, fails) => {
      const asked = fails ? failing : api(async () => ({ url: url as string }));
      const created = { url_token: 'quyul5r5w08', html_url };
      const { link } = await findLink(asked, 'https://pw.test/x', created);
      expect(link).toMatch(/^https?:\/\/[\x21-\x7e]+$/i);
    }),
    { numRuns: 1000 },
  );
});

test('a made link has the path prefix, and the step where there is one', async () => {
  const made = async (retrieval_step: boolean | undefined) =>
    (await findLink(failing, 'https://pw.test/x', { url_token: 'quyul5r5w08', retrieval_step }))
      .link;
  expect([await made(true), await made(false), await made(undefined)]).toEqual([
    'https://pw.test/x/p/quyul5r5w08/r',
    'https://pw.test/x/p/quyul5r5w08',
    'https://pw.test/x/p/quyul5r5w08',
  ]);
});
