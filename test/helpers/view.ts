import { wordsFor } from '../../src/server/page/language';

/** What a page in English is made for; its secret is under a veil. */
export async function englishView() {
  const words = await wordsFor(new Request('http://pw.test/'));
  const site = { title: undefined, logo: undefined, contact: undefined };
  return { words, site, now: 0, open: false };
}
