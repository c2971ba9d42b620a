import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Context } from '../../platform/context';
import { usageError } from '../../platform/errors';
import { aborted, raceWithLimit } from '../../platform/files/abort';
import { whyUnreadable } from '../../platform/files/file-error';
import { GRACE } from '../../platform/interrupts';
import type { Session } from '../../profile/session';
import { listed } from '../../words/grammar';
import type { Questions } from './ask';
import { type Allowed, newDesk } from './desk';
import { serveProtocol } from './protocol';
import { toolsOf } from './tools';
import { hasWayOut } from './way-out';

/** What the tools may do, and the options about the instance that the runs of them have. */
export interface McpPlan {
  /** The current folder if undefined. */
  readonly root: string | undefined;
  readonly allowed: Omit<Allowed, 'root'>;
  readonly words: readonly string[];
}

/** Serves the tools until the client closes standard input, or a signal ends it; then ends what still runs. */
export async function run(session: Session, plan: McpPlan): Promise<void> {
  const { context, say } = session;
  const { allowed, words } = plan;
  const root = await rootFolder(context, plan.root);
  context.interrupts.enter({ mode: 'own' });
  if (context.stdin.isTTY)
    await say.note('waiting for a client on standard input; see man pwpush-mcp (Ctrl-C ends it)');
  const loose = allowed.run.filter(hasWayOut);
  if (loose.length > 0)
    await say.warn(
      `--allow-run: ${listed(loose)} can start other programs, or print a secret in any form`,
      'allow a script of your own that takes no arguments',
    );
  const ending = new AbortController();
  void aborted(context.signal).then(() => ending.abort());
  const questions: Questions = { asked: new Map(), places: new Set() };
  const desk = newDesk(session, words, { ...allowed, root }, ending.signal);
  try {
    await serveProtocol(context, toolsOf(desk, questions), ending.signal);
  } finally {
    ending.abort();
    // A program that does not end is left behind.
    await raceWithLimit(desk.idle(), { milliseconds: 2 * GRACE.run }, () => {});
  }
}

/**
 * The folder of all files. Clients start servers in any folder, some in that of the whole system.
 * @throws CliError (usage) if it is no folder, or if it is too large a one and was not named
 */
async function rootFolder({ home }: Context, named: string | undefined): Promise<string> {
  const folder = named ?? '.';
  const found = await realpath(folder).catch((error) => {
    throw usageError(`--root must be a folder; cannot read "${folder}" (${whyUnreadable(error)})`);
  });
  if (!(await stat(found)).isDirectory()) throw usageError(`--root: "${folder}" is not a folder`);
  const isHome = found === (await realpath(home ?? '').catch(() => undefined));
  if (named === undefined && (isHome || dirname(found) === found))
    throw usageError(
      `the current folder is ${isHome ? 'your home' : 'the whole system'}, with files that no tool should reach`,
      'name a folder: pwpush mcp --root FOLDER',
    );
  return found;
}
