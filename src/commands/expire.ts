import { keyRows, keySources, type Options, passphraseRows, pushesRow } from '../cli/options';
import { type KnownPassphrase, knownPassphrase, passphraseSource } from '../cli/passphrase';
import type { Entry } from '../cli/terminal/output';
import { count } from '../cli/terminal/wording';
import { inOrder } from '../client/in-order';
import { onItem } from '../client/item';
import { AT_ONCE } from '../client/pages';
import type { Push } from '../contract/decode';
import { requestKeys } from '../keep/load-request-keys';
import { printError } from '../keep/print-error';
import { contextWith } from '../platform/context';
import { attempt, CliError, ExitWith, endedBy, phrase, tried } from '../platform/errors';
import { connectEach } from '../profile/connect';
import { type Receipts, readReceipts } from '../profile/receipts';
import { type ConnectedItem, itemsOf } from '../profile/references';
import { readKeys } from '../take/decryption-keys';
import { KeyProver } from '../take/proving';
import { withPassphrase } from '../take/retrieve';
import help from './help/expire.txt?raw';
import { command } from './planned';

const rows = {
  links: pushesRow(),
  ...passphraseRows(),
  keyFile: keyRows().keyFile,
};

export default command({
  description: 'Expire pushes now. This deletes their secrets for good.',
  help,
  rows,
  plan: planOf,
  run: expire,
});

function planOf(options: Options<typeof rows>, entry: Entry) {
  const passphrase = passphraseSource(options, entry.context);
  const keys = keySources({ ...options, identity: [], decrypt: true });
  return { items: itemsOf(entry, options, options.links), passphrase, keys };
}

/** A push that cannot be expired does not stop the others; the exit code is the highest status. */
async function expire(entry: Entry, plan: ReturnType<typeof planOf>): Promise<void> {
  const { context, say } = entry;
  const { text } = await readKeys(plan.keys, context);
  const passphrase = await knownPassphrase(plan.passphrase, context);
  const isOne = plan.items.length === 1;
  const items = await connectEach(entry, plan.items, Math.min(plan.items.length, AT_ONCE));
  const receipts = readReceipts(context);
  // A prompt does not name the push, so the user is only asked if there is one push.
  const asking = isOne ? context : contextWith(context, { canPrompt: () => false });
  const opening = { entry: { context: asking, say }, passphrase, text, receipts };
  const expired: object[] = [];
  const gone: ConnectedItem[] = [];
  let worst = 0;
  const outcomes = inOrder(items, async (item) => {
    const outcome = await attempt(async () => {
      if (context.signal.aborted) throw endedBy(context.signal);
      return end(item, opening);
    });
    if (!(outcome instanceof CliError) || outcome.code === 'not_found') gone.push(item);
    return { token: item.token, outcome };
  });
  try {
    for await (const { token, outcome } of outcomes)
      if (!(outcome instanceof CliError)) {
        expired.push(outcome.object);
        await say.remark(outcome.text);
      } else if (isOne) throw outcome;
      else {
        worst = Math.max(worst, outcome.exitStatus);
        await printError(context, outcome.with({ subject: token }), say.manner);
      }
  } finally {
    if (gone.length > 0) await receipts.end(gone);
  }
  if (say.manner.json) await say.print(expired, () => '');
  if (worst > 0) throw new ExitWith(worst);
}

interface Opening {
  readonly entry: Entry;
  readonly passphrase: KnownPassphrase;
  /** The link key, or the words, that decrypt the push. */
  readonly text: string | undefined;
  readonly receipts: Receipts;
}

/** Expires a push; or closes a request, and then deletes its private key, which nothing needs any more. */
async function end(located: ConnectedItem, opening: Opening) {
  const { entry, passphrase, text, receipts } = opening;
  const { context, say } = entry;
  const { token, target, last } = located;
  if (last?.ended)
    throw new CliError('expired', phrase('last-expired'), { hints: phrase('name-another-push') });
  return onItem<{ text: string; object: object }>(located, async (item) => {
    if (item.kind === 'push') {
      const prover = new KeyProver(entry, { linkKey: located.key, text }, target.base);
      const push = await withPassphrase(context, passphrase, target, (passphrase) =>
        prover.call((proof) => item.end(passphrase, proof)),
      );
      const wasEnded = isOld(push, context.now()) || tried(() => receipts.ended(located)) === true;
      return {
        text: wasEnded ? `${token} was expired already` : `expired ${described(located, push)}`,
        object: push,
      };
    }
    const closed = await item.end();
    const { forgetKey, keyForAnswer } = await requestKeys();
    const key = keyForAnswer(context, located, closed.public_key);
    await forgetKey(say, key, async () => closed.state);
    return { text: `closed ${token}`, object: closed };
  });
}

/** The clock of an instance is assumed to differ by less from the clock of this machine. */
const CLOCKS_DIFFER_MS = 60_000;

/** An instance that is asked to expire an expired push returns it with its old `expired_on`. */
function isOld({ expired_on: at }: Push, now: Date): boolean {
  return at != null && Date.parse(at) < now.getTime() - CLOCKS_DIFFER_MS;
}

/** Names the push by its ID; if the user typed `last`, as `"db" (0 of 5 views used)`. */
function described({ token, last }: ConnectedItem, push: Push): string {
  if (!last) return token;
  const { name } = last.receipt;
  const { expire_after_views: views, views_remaining: left } = push;
  const isKnown = typeof views === 'number' && typeof left === 'number';
  const used = isKnown ? ` (${views - left} of ${count(views, 'view')} used)` : '';
  return `${name ? `"${name}"` : token}${used}`;
}
