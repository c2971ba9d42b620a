/**
 * Returns the large word list of the Electronic Frontier Foundation, by Joseph Bonneau, 2016
 * (https://www.eff.org/dice), licensed under CC BY 3.0 US: 7,776 words that are easy to read out and to type, 12.9 bits
 * each.
 */
export async function wordList(): Promise<readonly string[]> {
  // Most runs do not need these 60 KB.
  return (await import('./words.txt?lines')).default;
}
