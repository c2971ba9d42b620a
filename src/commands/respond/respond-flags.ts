import { flag, group, list, optional, text, type Values } from '../../cli/declare';
import { type GlobalOptions, passphraseRows } from '../../cli/options';

/** The options of `respond`. */
export const rows = {
  ...group('Answer:', {
    from: text('--from <file>', 'read the text from a file; - is standard input'),
    env: text('--env <name>', 'read the text from an environment variable'),
    generate: optional('--generate [length]', 'generate it: 24, words:5, hex:32 (default: 24)'),
    raw: flag('--raw', 'keep the final newline of single-line input'),
    file: list('-f, --file <path...>', 'attach files, up to 10; - is standard input'),
    filename: text('--filename <name>', 'name of the file that --file - reads'),
    message: text('--message <text>', 'text to go with the files'),
  }),
  ...passphraseRows,
};

export interface RespondOptions extends GlobalOptions, Values<typeof rows> {
  readonly link: string;
}
