import { EventEmitter, once } from 'node:events';
import { safe } from '../../cli/terminal/safe';
import { parseReference } from '../../client/link';
import type { RunEvent } from '../../platform/context';
import { asCliError, CliError, exitStatus, usageError } from '../../platform/errors';
import { limited, raceWithLimit } from '../../platform/files/abort';
import { NoInstance } from '../../profile/target';
import { newBelow } from './below-root';
import { type Desk, linkWords, savedTo } from './desk';
import { failure, saidText, type Told, together } from './told';
import type { Arguments } from './tool-arguments';

export type Action = 'accept' | 'decline' | 'cancel';

export interface Page {
  readonly url: string;
  readonly message: string;
  readonly done: Promise<unknown>;
  /**
   * What to answer then.
   * @param action undefined if the client cannot show pages
   */
  shown(action: Action | undefined, signal: AbortSignal): Promise<Told>;
}

/** A question that was asked, until its answer is saved. */
interface Question {
  readonly link: string;
  /** What later calls name it by: the address that was asked, whatever link the instance gave. */
  readonly reference: string;
  readonly here: boolean;
  /** What the command that asked it warned of. */
  readonly said: string;
  readonly done: Promise<Told>;
  over: boolean;
  close(): Promise<void>;
}

const MOST = 20;

export interface Questions {
  readonly asked: Map<string, Question>;
  /** Where the answers go of those that are open, or about to be. */
  readonly places: Set<string>;
}

/**
 * Asks a person for a secret, which goes to a new file: by a request at the instance, or without one by a page that this
 * machine serves to itself.
 */
export async function ask(
  desk: Desk,
  questions: Questions,
  { question, file, expire, seconds }: Arguments<'ask'>,
): Promise<Told | Page> {
  const place = await newBelow(desk.root, file);
  const { asked: known, places } = questions;
  if (places.size >= MOST) throw usageError(`${MOST} questions are open`, 'wait for their answers');
  if (places.has(place))
    throw usageError(`another answer is to be saved to "${file}"`, 'name another file');
  places.add(place);
  const asked = await begin(desk, { question, expire, place, file }).catch(asCliError);
  if (!('link' in asked)) {
    places.delete(place);
    if ('text' in asked) return asked;
    throw asked;
  }
  const { link, reference, said } = asked;
  for (const [token, { over }] of known) if (over && known.size >= MOST) known.delete(token);
  known.set(parseReference(reference).token, asked);
  const over = () => {
    asked.over = true;
    places.delete(place);
  };
  void asked.done.then(over, over);
  const where = asked.here ? ' It opens in a browser on this machine.' : '';
  // A page elsewhere is not opened for a person, who would trust it.
  const isOwn = link.startsWith(reference) && /^(?:[/?#]|$)/.test(link.slice(reference.length));
  const page: Page = {
    url: link,
    message: `${question}\nThe answer goes to ${file}, and not into the conversation.`,
    done: asked.done,
    shown: async (action, signal) => {
      if (action === 'accept') return together(await answered(asked, seconds, signal), said);
      if (action !== undefined) await asked.close();
      const text =
        action === undefined
          ? `Give this link to the person who knows the answer: ${link}${where}\nThen call wait with ${isOwn ? 'this link' : reference}. The answer is saved to ${file}.`
          : `The person did not open the page (${action}); the question is closed.`;
      return together({ text }, said);
    },
  };
  return isOwn ? page : page.shown(undefined, desk.signal);
}

export async function answered(
  { done, reference }: Question,
  seconds: number,
  signal: AbortSignal,
): Promise<Told> {
  const over = limited(signal, seconds * 1000);
  const late = { text: `no answer within ${seconds} s; call wait with ${reference} to wait on` };
  return raceWithLimit(done, { signal: over }, () => late);
}

interface Asking extends Pick<Arguments<'ask'>, 'question' | 'expire' | 'file'> {
  readonly place: string;
}

async function begin(desk: Desk, asking: Asking): Promise<Question | Told> {
  const target = desk.target();
  const isAsked = !(target instanceof NoInstance) && target.token !== undefined;
  const asked = isAsked ? await askInstance(desk, asking, target.base) : undefined;
  return asked ?? askHere(desk, asking);
}

/** A page that this machine serves to itself, in the background, until it is answered. */
async function askHere(
  desk: Desk,
  { question, expire, place, file }: Asking,
): Promise<Question | Told> {
  const closing = new AbortController();
  const words = ['--here', '--host=127.0.0.1', '--quiet', `--output=${place}`];
  const events = new EventEmitter();
  const happened = (event: RunEvent) => void events.emit(event.event, event);
  const linked = once(events, 'link').then(([{ link }]): string => link);
  // The answer is saved, and the run stays up for the page of the person.
  const delivered = once(events, 'lost').then(() => ({ status: 0, stdout: '', stderr: '' }));
  const { signal } = closing;
  const argv = [...words, `--expire=${expire}`, '--', question];
  const ran = desk.local('request', argv, { signal, happened });
  const link = await Promise.race([linked, ran.then(() => undefined)]);
  if (link === undefined) return failure(await ran);
  const done = Promise.race([ran, delivered]).then((ended) => {
    const rest = { ...ended, stderr: ended.stderr.replace(link, '') };
    return ended.status === 0 ? savedTo(place, file, rest) : failure(rest);
  });
  const close = async () => {
    closing.abort();
    await ran;
  };
  return { link, reference: link, here: true, said: '', done, over: false, close };
}

/**
 * A request at the instance, which is closed again if the person declines; undefined if the instance has no requests, or
 * could read the answer.
 */
async function askInstance(
  desk: Desk,
  { question, expire, place, file }: Asking,
  base: string,
): Promise<Question | Told | undefined> {
  const closing = new AbortController();
  const world = { signal: closing.signal };
  const words = ['--json', `--expire=${expire}`, '--', question];
  const made = await desk.command('request', words, world);
  if (made.status === exitStatus.rejected) return undefined;
  if (made.status !== 0) return failure(made);
  const { html_url, url_token } = JSON.parse(made.stdout) as Record<string, string>;
  const link = safe(`${html_url}`);
  const reference = `${base}/r/${url_token}`;
  const named = linkWords(reference);
  const save = async () => {
    const waited = await desk.command('wait', ['--json', ...named], world);
    if (waited.status !== 0) return failure(waited);
    const saved = await desk.command('get', [`--output=${place}`, ...named], world);
    return saved.status === 0 ? savedTo(place, file, saved) : failure(saved);
  };
  const done = save();
  const close = async () => {
    closing.abort();
    await done;
    const ended = await desk.command('expire', ['--json', ...named], { signal: desk.signal });
    if (ended.status !== 0) throw new CliError('failed', failure(ended).text);
  };
  return { link, reference, here: false, said: saidText(made.stderr), done, over: false, close };
}
