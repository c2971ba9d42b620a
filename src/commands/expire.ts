import { Command } from 'commander';
import { withOptions } from '../cli/options';
import { concurrentMap } from '../client/concurrent-map';
import { onItem } from '../client/item';
import { AT_ONCE } from '../client/pages';
import { tellError } from '../open/tell-error';
import type { Context } from '../platform/context';
import { attempt, CliError, ExitWith, endedBy } from '../platform/errors';
import { creatorsOf } from '../profile/creators';
import { removeReceipts } from '../profile/receipts';
import { createSession, type NamedItem, type Session } from '../profile/session';

const EXAMPLES = `
You can expire your own pushes, and those whose recipient can delete them. With
--json several links print an array, one link an object.

Examples:
  $ pwpush expire abc123def456
  $ pwpush list | cut -f 1 | xargs pwpush expire --`;

export function define(context: Context): Command {
  const command = new Command('expire')
    .description('Expire pushes now. This deletes their secrets for good.')
    .argument('<links...>', 'links or tokens of the pushes')
    .addHelpText('after', EXAMPLES);
  return withOptions(command, context, {}, (options, links: readonly string[]) =>
    expire(createSession(context, options), links),
  );
}

/** Expires each push; one that fails does not stop the others, and the highest status is the exit code. */
async function expire(session: Session, links: readonly string[]): Promise<void> {
  const { context, options, say } = session;
  const { asCreator } = creatorsOf(session);
  const references = await Promise.all(links.map(session.reference));
  const pushes = await session.connectEach(references, Math.min(references.length, AT_ONCE));
  const expired: object[] = [];
  const gone: { readonly token: string; readonly base: string }[] = [];
  let worst = 0;
  const outcomes = concurrentMap(pushes, async (named) => {
    const push = await attempt(async () => {
      if (context.signal.aborted) throw endedBy(context.signal);
      return end(session, await asCreator(named));
    });
    if (!(push instanceof CliError) || push.code === 'not_found')
      gone.push({ token: named.token, base: named.target.base });
    return { token: named.token, push };
  });
  try {
    for await (const { token, push } of outcomes) {
      if (!(push instanceof CliError)) {
        expired.push(push.object);
        await say.remark(`${push.verb} ${token}`);
        continue;
      }
      if (references.length === 1) throw push;
      worst = Math.max(worst, push.exitStatus);
      await tellError(context, push.with({ message: `${token}: ${push.message}` }), options);
    }
  } finally {
    await removeReceipts(context, gone);
  }
  if (options.json) await say.print(references.length === 1 ? expired[0] : expired, () => '');
  if (worst > 0) throw new ExitWith(worst);
}

/** Expires a push, or closes a request and removes its key, which nothing needs any more. */
function end({ context, say }: Session, named: NamedItem) {
  return onItem(named, async (item) => {
    if (item.kind === 'push') return { verb: 'expired', object: await item.end() };
    const closed = await item.end();
    const { keyForAnswer } = await import('../open/take-answer');
    const { forgetKey } = await import('../open/request-keys');
    await forgetKey(say, keyForAnswer(context, named, closed.public_key));
    return { verb: 'closed', object: closed };
  });
}
