import { group, type Values } from '../../cli/declare';
import { fileRows, type GlobalOptions, passphraseRows, sourceRows } from '../../cli/options';

/** The options of `respond`. */
export const rows = {
  ...group('Answer:', { ...sourceRows(), ...fileRows() }),
  ...passphraseRows,
};

export interface RespondOptions extends GlobalOptions, Values<typeof rows> {
  readonly link: string;
}
