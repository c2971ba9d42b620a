import { operand } from '../cli/declare';
import { keyRows, keySources, type Options, passphraseRows } from '../cli/options';
import { knownPassphrase, type PassphraseSource, passphraseSource } from '../cli/passphrase';
import { count } from '../cli/terminal/wording';
import { inOrder } from '../client/in-order';
import { onItem } from '../client/item';
import { AT_ONCE } from '../client/pages';
import type { Push } from '../contract/decode';
import { tellError } from '../keep/tell-error';
import { contextWith } from '../platform/context';
import { attempt, CliError, ExitWith, endedBy, phrase, tried } from '../platform/errors';
import type { Named, NamedItem, Session } from '../profile/session';
import { type KeySources, readKeys } from '../take/decryption-keys';
import { proving, withPassphrase } from '../take/retrieve';
import help from './help/expire.txt?raw';
import { command } from './planned';

const rows = {
  links: operand('<link...>', 'links or IDs of the pushes, or last'),
  ...passphraseRows,
  keyFile: keyRows.keyFile,
};

/** What to expire, and with what where its viewers need that. */
interface ExpirePlan {
  readonly references: readonly Named[];
  readonly passphrase: PassphraseSource;
  readonly keys: KeySources;
}

export default command({
  description: 'Expire pushes now. This deletes their secrets for good.',
  help,
  rows,
  plan: planOf,
  run: expire,
});

function planOf(options: Options<typeof rows>, { context, reference }: Session): ExpirePlan {
  const passphrase = passphraseSource(options, context);
  const keys = keySources({ ...options, identity: [], decrypt: true });
  return { references: options.links.map(reference), passphrase, keys };
}

/** Expires each push; one that fails does not stop the others, and the highest status is the exit code. */
async function expire(session: Session, plan: ExpirePlan): Promise<void> {
  const { references } = plan;
  const { context, say } = session;
  const { text } = await readKeys(plan.keys, context);
  const passphrase = await knownPassphrase(plan.passphrase, context);
  // Of several, nobody would know which one asks.
  const asking =
    references.length === 1 ? context : contextWith(context, { canPrompt: () => false });
  const viewing: Viewing = async ({ key: linkKey, target }, work) => {
    const prover = await proving({ context: asking, say }, { linkKey, text }, target);
    return withPassphrase(asking, passphrase, target, (given) =>
      prover.call((proof) => work(given, proof)),
    );
  };
  const pushes = await session.connectEach(references, Math.min(references.length, AT_ONCE));
  const expired: object[] = [];
  const gone: NamedItem[] = [];
  let worst = 0;
  const ended = async (named: NamedItem) => {
    const push = await attempt(async () => {
      if (context.signal.aborted) throw endedBy(context.signal);
      return end(session, named, viewing);
    });
    if (!(push instanceof CliError) || push.code === 'not_found') gone.push(named);
    return { token: named.token, push };
  };
  const tell = async ({ token, push }: Awaited<ReturnType<typeof ended>>) => {
    if (!(push instanceof CliError)) {
      expired.push(push.object);
      return say.remark(push.text);
    }
    if (references.length === 1) throw push;
    worst = Math.max(worst, push.exitStatus);
    await tellError(context, push.with({ subject: token }), say.manner);
  };
  try {
    for await (const outcome of inOrder(pushes, ended)) await tell(outcome);
  } finally {
    if (gone.length > 0) await session.receipts().end(gone);
  }
  if (say.manner.json) await say.print(expired, () => '');
  if (worst > 0) throw new ExitWith(worst);
}

interface Ended {
  readonly text: string;
  readonly object: object;
}

/** Does what needs a passphrase and a proof of the key where a view needs them. */
type Viewing = <T>(
  named: NamedItem,
  work: (passphrase?: string, keyProof?: string) => Promise<T>,
) => Promise<T>;

/** Expires a push, or closes a request and removes its key, which nothing needs any more. */
async function end(session: Session, named: NamedItem, viewing: Viewing): Promise<Ended> {
  const { context, say } = session;
  if (named.last?.ended)
    throw new CliError('expired', phrase('last-expired'), { steps: phrase('name-another-push') });
  return onItem<Ended>(named, async (item) => {
    if (item.kind === 'push') {
      const push = await viewing(named, item.end);
      const text = wasEnded(session, named, push)
        ? `${named.token} was expired already`
        : `expired ${described(named, push)}`;
      return { text, object: push };
    }
    const closed = await item.end();
    const { forgetKey, keyForAnswer } = await import('../keep/request-keys');
    const key = keyForAnswer(context, named, closed.public_key);
    await forgetKey(say, key, async () => closed.state);
    return { text: `closed ${named.token}`, object: closed };
  });
}

/** Clocks of instances differ from ours by less. */
const CLOCKS_DIFFER_MS = 60_000;

/** Whether a push had ended before: an instance returns it as it was then. */
function wasEnded({ context, receipts }: Session, named: NamedItem, { expired_on: at }: Push) {
  const isOld = at != null && Date.parse(at) < context.now().getTime() - CLOCKS_DIFFER_MS;
  return isOld || tried(() => receipts().ended(named)) === true;
}

/** The token that the user typed; if that was `last`, which push it is: `"db" (0 of 5 views used)`. */
function described({ token, last }: NamedItem, push: Push): string {
  if (!last) return token;
  const { name } = last.receipt;
  const { expire_after_views: views, views_remaining: left } = push;
  const isKnown = typeof views === 'number' && typeof left === 'number';
  const used = isKnown ? ` (${views - left} of ${count(views, 'view')} used)` : '';
  return `${name ? `"${name}"` : token}${used}`;
}
