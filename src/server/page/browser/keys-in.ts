import { formsOf, isLinkKey, linkKeyIn, wordsIn } from '../../../age/link-key';
import { find } from './dom';

/** Fewer words are a passphrase: the program makes them of five. */
export const FEWEST_WORDS = 6;

/**
 * The key in a fragment, a pasted link or a field: mail gateways append to links, and words are typed as `wordsIn` says.
 * There are several where that is not certain, the more likely first.
 */
export function keysIn(text: string): string[] {
  const typed = text.trim();
  const words = wordsIn(typed);
  const likely = linkKeyIn(typed) ?? (words.length < FEWEST_WORDS ? '' : words.join('-'));
  return [...new Set([likely, ...formsOf(typed)])].filter((key) => key !== '');
}

/** Says in a line of the page whether its link has the key, and returns it. */
export function reportKey(line: HTMLElement): boolean {
  const { found = '', missing = '', damaged = '' } = line.dataset;
  const { hash } = location;
  const has = keysIn(hash).some(isLinkKey);
  find(line, 'span').textContent = has ? found : hash === '' ? missing : damaged;
  line.className = has ? 'quiet' : 'problem';
  return has;
}

/*
 * The words of `--encrypt=words` (src/cli/words.ts), as a Bloom filter of 4 KiB: the list itself has 60. Of other
 * words, it takes one in six for one of them, and so one text of six words in tens of thousands.
 */

const BITS = 15;

/** The two bits of a word: parts of its FNV-1a hash. */
function bitsOf(word: string): number[] {
  let hash = 0x811c9dc5;
  for (const letter of word) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return [hash >>> (32 - BITS), hash & (2 ** BITS - 1)];
}

/** The filter for a list, in base64. */
export function filterOf(list: readonly string[]): string {
  const bytes = new Uint8Array(2 ** BITS / 8);
  for (const bit of list.flatMap(wordsIn).flatMap(bitsOf))
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (1 << (bit & 7));
  return btoa(String.fromCharCode(...bytes));
}

export const FILTER =
  'K7gQ0QwRlxSFDKCgVkK8gyFWFoD2CAQUYDcxJGsmxOhuRSVFQyKMIgyyoXAJgIlARuI7oABOLnRUZQbdasEYiQRGGUsYogCITIbOCSQmYRGHRnUY44ZEPsHBlZQoU4PgKgFhVHkC1AiSwWAEkSCCGLAccy1oDW6kr9XMwUUqOxCL6QxoAH4CREiXiqUOEZzECdRYTJgrHRBqIhqFGgQAAgQcBw/CzwUAaYZ8VV0WDZm4jCYtiS/lAECqF3iIUkURcDAao3AGQwTIc2NYA7hEKEmBoEKV0FIESRwbFEYCoTAimg5qNgNgDYCOZ0ABu5GEoIOAoKCCmMTwUlcUzISBwIMRkQiXAMqWxcsEYxp2SDRD10AEsq5ljCNzJknLobWAAMlUSrYAJIW1RUzoBDaycwwRQ61VjAVHEmYZWihAmrAAHIDUkIIz8wgzROggcFERYScYfGEICwoq7AxDIhHKoTxdwDqDU6hgQWySjQVWzucAAKOEIO6aoGrhDkZMMUrk0EygKyYgUoRGHRtJRTTglzHEOZlStWssUlAgMmjHYgRSdMUJKiAwiHIW5SwJJBOFJTBEmQDBUGFSDFAYmI1iTAevRMFGQAMjQeUGiaogCGBQACTHI8BGQlIlJ06AIBM7QOTGFsCWgZCZAgAzrXMFalAM2aYciJoIEFQCAwET8o8BEJCQUCC0WD+4ULERggBd4EFJKyADIOgNFQqw81pW1gBDom0k0DQGxePUCWU+dxQwecYBjEJoIWEq6WxAQMzR5AZNjS0nAKkkSyfUEocQYzDQARQF8IQHmZQVDFqIyUobonLtguhTmYTXjKCADJIAyQUyENCahwhsUQYQXgcSAJfHAREGl8agijE6RwYKUOYT+GRIoSIkHRJqwgNbnAI0QACASrBNTJcJSMQiunx5AMUE1A7XyBAEFsmqJM0AwZiI21AMolQVFQHY0R9oiFhC+j8rcFLLPVp4gKBICtfQzv4IsQoDbSAyKOJlxpLosaFVIBUgQByDblmkiUoBwDIOZikEkcSAdki79MVCYDAUkKCqBAjwC6GIEySog0QjOIYV1NQ7QqADtaYQ5CUJcjGPIPUiZBqioyTCIhrKnABMrraAHQuk7FCQOyBRoFgQYdmh7DITAUOvCAYtgARK+AMIICEWMHgFkMw4LIIsU20gSAVQF4w4gAYqhUDAAixKqiBKcJFqSDDMYCcaCFFx4loYo3BZBcCD3KWI2R8kKDkY2FBcAkAKABZOuivMaZhwAkEzDB2CUx2cUwuqBkoMBEAHXBCBIfLQAyoQAAJwCfQPdoZYlzJDi1yAJBEK0GGG6XBibAmgCRfZODIGM2JMFKTANTUh2mIBiQOjooARQyevHASEDvBVKgqATgKDi0MUqCBHOaURckAgiBwECmgDHAkMAEVseJ3rVSCYhSnEFYTKDBoDCRDM0230RIUEoKEL0mJTAQk0xyCgkVmhJIgyBppBRghYxg25VV2CHIpYBoJB65ilFgPSwGKN7yqKUoY0BEJdrDhtHmtmwGg8QAlhHG7JsIgVRLTADZVpKQc1qqUkIAitEgMMrNmCgMDCyCych/5UYGQpkIAACNJ6KVCCg4ApBCiBKmEUqoDAmKhqJHk2SKMEgFfQAsSJqWZ9YlhtlWYCAQEkgHRGS04g8qGEteAiMEFDhvgAGNAeZmuDQFlMwQTldDQSGzpwcANhVaLMuSMRFDFIAlJcUcw4BITQMnFggYTAWAJAUsQVJQAIwgSEFgTeYubySAvUS8UQFFycVFhAcQ2WQYzSoUHJAxgt5YRgRLo6ui+AEgJQggWAQSiILC01RuBU/dDj0XYhiY1EoJTC9DFkIGWg4pKDqVqIogEIwBEBJHADMWs0GwoigywSgrjOMQbSYLaHFHg0IkDiZT+hMp8XgsmrIoEhCdN2DKQNAhaoMHMkED8pIngiiCUWjmCo7AxNjVtATNwwnAC0nQZDEAstJV2VEtlABM4sq5tlZkKTIqrFGuITDg0yVwVwhsi4AOFQFRxBaclgDGABAWyZAE3CMWCKVBFbO7oyAILSEGCA5ZQGChcJmCz0CAUvGeJEy4w0XpQDEhCMwRtSkmBIJyBEe9MpRgFGhsWkcBeNAEUwvjiA1EoZgxBDYMObk0HAgEhaeVJAAQCQkUHIAzNz6K6EIGjkBFQggO58KMQgQ8IJmoiwAHUEMPkG2RiBQl3IRm8mw6SCY5aaZUvCBKBDhfQIGEcgyrAIA2izBA+ZQFGJSknFFjdf0iKBkuMXM5gbCbDwIkA8I/IngvAgOpvpm4AVsBYRyHghmG4oEaFkMEZmvUQABCGeKxAC4QCAEPn2I2F10mSFsKMAQBLwCvvLhADSWwzmd6VVzoAAgMMSFDQSgXuP0KEgEipEvkewQJgDCIFsEGQQQCZkRcS4lRwhQnqySpHHAnlGBohAGYgMQlL1EAwUTxmEQQD/GEojJEjwQAsqiCNAIhRORRIRDaEcKgSwCKcBgkEc4oBGQCcMYMGONH5C5WGAOBBIAEKhOAOlQKgAhUYXMhhFuBCqFXUAAGC1Iqt0HDUAPEw6xnTKmvyxL/CM41kGIIEkqiAofMoTawZhg2QBbLUYAmkxE0RBYCguqBBBo9BcBI3Makiw+go48YsIcQGFiwYlwOAagHqEkEkDobpgHBPAB2hCJG5nhIjaGoQ5iBFAAotgfFJgChYUsQJIzMuzFch+EBmFFNJxRsBtmlMFSD5U0L3aWrBCx4PgBickhoGIwqU0MZEyGUxo7BaAgFiojmk1rKdnZsYECJY5GNBaCTzQIi3jWZUGhJAGSlAVsCJIIZ7o2TgKIALzkARQOEwqJAiAMQ+YGQRUsl9ifQEThTNJsMjRmaYbABLkOhRJcEpEWo2AAzIEEDG4MiAcL0MvkgWX6DsBGKagh4SCLyxsCXXeaArak18Y+lBQckKkoQRGyEXcMOgAGIBPhBKwyYIIn1JhFgkxgGxzxqsaVNIaAp4QkIQtIgKGM0ARH6WIQuxOrKPk1rBk6OZimpVwqCzsVYnZslrtC2wV1RMlgNGRhA8Ke1ccA8Sxyy4WiwWPLr4aCc7HCkL1pBosOIIYk2aEEHYBjTdPOANiAAKU8L6wwIIUURQBJZAsCjAUxDCEEt0DtFAKiJBBt6skuWCiAChUgEQQSwAjJ5xAYaJgktoMGyBBaEIFSQYogZzkVYwZZGqsAohW7AjsBIE2UAHDZgArKLqSSkWnCCEkDgTAqCHFoAUQgQUOyPJgSFImGahDETohMJBxR8A+BaaAFjHQTdgaCBihghjgKFuCDUICRNDFE4CkRIPsyyaYL5YNXQo7DAUUIQwCArOmbDqEeC1KiRLAm4dPCmjWQcuQiFJBThMKiJIcam8calRzwCuAEEATAUwi1KBp+JMq6AK22BrkhKWL0nUVAJrMGEAhykTETAVWWUqS20FYI49xGiRXDRcB1gw0zEWeIqQOe8ycTs0TIJa1QGXCLy+R4GINZTvGhigywAoXBfkORRqGEMHhSw1UAJmBLE3bYIcKADoIJBOSIJgoGSiGERh5EiksB2QSmwa5jMQEHHzQGxmQ383pJG0AOJc14a5QaqIXRNenPDALfMDpGQOpBaBgihEIijGFSZrGiZBlJFGiAyAKAqqBhV2zrRAZoACVZgYpAGm0x00mqPQmncjDAgGoUAh2ZrRTLUdo9BMPhSFpLiPAwBEcePWYgGUamqti0BEkoFEYBhfMJaInxA5GRKEVtgGaWYK+JtSBPdgGOomaBoEI0ZBaQooxGKCC0BAAXUS9jgsy6fFNAWg6GiCUbyo5GERAAAFwjbEnlAVB9BTAuh3HUgc3FNMhB0GixgkS8aAHYeQiALAPCoeh4NwTKeBQ4EnypyfZRkuXsSAR3IzJECLssLLOIqeocHSyEwBRNgEGPMT1CzGhBRACeGJVodYEGRyx6NJEEKM14faHSMgJCcHawLDQfoolPMCGPU4KRcPGqcMBHfekyIlR5KAF6EyKJal+BrakAj4IQtFEITSBjJGK7eMCM0eE2BlxUmHaACh4hNKmAwiJJLoTMgozTcD1sGzttJsoDCIMDKC60CIGMhtIikHVyKYAsArQm8oZFwx8IQmgnxpAmiwMKABgN2QxAAyQFASHAUIgZu6gvIYSM8PEo4oYBlCvD083CslMs04Aoe8YUgFhggKeOBKg58AZ0Eoc+MDXyI4cMBXIOWMF5gGKAEKyL0VAaITDF0UJOePbAlgkIJAgckGxEsQJtvcJVYgQ0MRPCDYCQQ1HCmkBy5TsIBCTpVeUQCgBh1FBVIAUxVrieVK2dut3dIAhKCMFBXrID5JUEQKTNgNWJFWt4LNRH72AEAwSIA4KWQZIBZInHJUkBKA0N3B50eAQUggSaMAYpj2VRoMDCixQECAAST2kEHChAAqRJisIw2G9cyIUMM3UAMVjDtE4ISwploHDcB8SWQAlH6Bhw4BNahgw+KTggqVQANT0cmC0gIIFCCkI9RIGIGpAiTLKwRkT0CQWAgAEqLQEiNMTqqmAMhyQ3CsIBsis4CIiA9dMg5jCAMILGQBAjCmD3GOBRpEBUNUUFzhlGRyTVWY9QyoLoqMAXwcADJAVBcykC520MIQz0BcJIIUjhChEshNcoRtZjUMPAPhigr3Q5aI/U1VQZhgpiCAVu8VgTIDMUFUQCCNqkUciIYjRBdIjpFpUWqEDK4EIaHgxldKkCwhhCpzDakZlABzBcGNGlZsBgEXFe0AL7ECpcNZSQQEQgQGaIwkDmVORCF2AEIAIhlqhxApaJCBF0I+gglOoIQQrOOwPMjPAnG21SgpVyY8LJZRH6l6IpUjKqriwYkfC8gJLpEwh4AENBIc8EABJVsgQKofQA48Caq0ETU+5E3EzOoCyDoa0hYCGABMML0X07gJuIgQhAIIB2DlaGxQZ8RADVErFkIwgMjIMCGHPVtA3wguD83Tnvx4yBABsDDACe0MogDyShDAR1TgI14KjqOEiCZgqxQTUSMJGMlXSljYQBAVdFHDRY2whACYgIpmAwAkcJnAWDMq+okLGRsKFnLOABEKcrQKollFj05HcnivomEKygACQSRAKds4k4MXoUBwidCoJBjQRQACGT0AggBCD2wBBbiEAmByFAGB7FUACIzHoYA0IjYiILO0TnIVZPksCB4kTU7K6BYIWVIswA4+QEcjBThCJhOVWSYixBiLq9ZU9AvoDQyAMJZgr4aL87C0LAyArZUeEZ4TUH0Ul44JYYI9FAiDEeVAnOAUOVJB4H5gIXg1YkWJFDFKCg/yOxSIDxnDJBiMRKqkvv2eFL3SQjSOqOqi0UwuAWBYitkCFSBsYkkWBt2zrYQ0/zLEUEAFoknGDAKaBEiBNOSuYWgKBQRKrYQOktZAWW4CZgdwHZkELkYJcm4yQpIkdLMuHTC0Umo+0kDcKkyWGJFALM04Q1TBiAgtIupcnWYLuWAUxPHVdJ6yodASqOA==';

/** Whether a text is at least six words of the list. */
export function areKeyWords(text: string): boolean {
  const words = wordsIn(text);
  const bytes = atob(FILTER);
  const isSet = (bit: number) => (bytes.charCodeAt(bit >> 3) >> (bit & 7)) & 1;
  return words.length >= FEWEST_WORDS && words.every((word) => bitsOf(word).every(isSet));
}
