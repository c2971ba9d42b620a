import type { Api } from '../client/client';
import type { Context } from '../context';
import type { Push } from '../contract';
import type { CliError } from '../errors';
import type { GlobalOptions } from '../options';
import type { Terminal } from '../terminal/output';
import type { Destination } from './destination';

/** A retrieved push, and what it takes to fetch its files. */
export interface Retrieved {
  readonly context: Context;
  readonly options: GlobalOptions;
  readonly say: Terminal;
  readonly api: Api;
  readonly push: Push;
}

/** A retrieval with files, and what may be done with it. */
export interface Reception extends Retrieved {
  readonly options: GlobalOptions & { readonly output?: string; readonly force: boolean };
  /** A folder that `--output` names. */
  readonly folder: string | undefined;
  /** A file that was reserved for `--output`. */
  readonly file: Destination | undefined;
  /** Gets the text, or with --json the object, to where it belongs. */
  handOver(push: Push, file: Destination | undefined): Promise<CliError | undefined>;
}

/** Hands over the text of a push, where there is one. */
export async function handText(
  { push, handOver }: Reception,
  file: Destination | undefined,
): Promise<CliError | undefined> {
  if ((push.payload ?? '') !== '') return handOver(push, file);
  await file?.discard();
  return undefined;
}
