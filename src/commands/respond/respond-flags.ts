import { group } from '../../cli/declare';
import { fileRows, type Options, passphraseRows, sourceRows } from '../../cli/options';

export const rows = {
  ...group('Answer:', { ...sourceRows(), ...fileRows() }),
  ...passphraseRows,
};

export type RespondOptions = Options<typeof rows>;
