import { EventEmitter, once } from 'node:events';
import { safe } from '../../cli/terminal/safe';
import { parseReference } from '../../client/link';
import type { RunEvent } from '../../platform/context';
import { CliError, exitStatus, usageError } from '../../platform/errors';
import { limited, raceWithLimit } from '../../platform/files/abort';
import { NoInstance } from '../../profile/target';
import { newBelow } from './below-root';
import { linkWords, type McpSession, type Question } from './mcp-session';
import type { Arguments } from './tool-arguments';
import { failure, messagesIn, SaveReport, type ToolResult, withMessages } from './tool-result';

export const actions = ['accept', 'decline', 'cancel'] as const;
type Action = (typeof actions)[number];

export interface Page {
  readonly url: string;
  readonly message: string;
  readonly answered: Promise<unknown>;
  /**
   * Returns the result of the tool after the page was shown.
   * @param action undefined if the client cannot show pages
   */
  shown(action: Action | undefined, signal: AbortSignal): Promise<ToolResult>;
}

const MOST_QUESTIONS = 20;

/**
 * Asks a person by a request at the instance; without an instance, by a page that only this machine can open. Saves the
 * answer to a new file.
 */
export async function ask(session: McpSession, args: Arguments<'ask'>): Promise<ToolResult | Page> {
  const { questions, places } = session;
  const { file } = args;
  const place = await newBelow(session.allowed.root, file);
  if (places.size >= MOST_QUESTIONS)
    throw usageError(`${MOST_QUESTIONS} questions are open`, 'wait for their answers');
  if (places.has(place))
    throw usageError(`another answer is to be saved to "${file}"`, 'name another file');
  places.add(place);
  let question: Question | ToolResult | undefined;
  try {
    question =
      (await askInstance(session, args, place)) ?? (await askEphemeral(session, args, place));
    if ('text' in question) return question;
  } finally {
    if (question === undefined || 'text' in question) places.delete(place);
  }
  for (const [token, { over }] of questions)
    if (over && questions.size >= MOST_QUESTIONS) questions.delete(token);
  questions.set(parseReference(question.reference).token, question);
  const end = () => {
    question.over = true;
    places.delete(place);
  };
  void question.answer.then(end, end);
  return pageOf(question, args, session.signal);
}

/** Returns a link to another instance only as text, because a person would trust a page that the client opens. */
function pageOf(
  question: Question,
  { question: text, file, seconds }: Arguments<'ask'>,
  signal: AbortSignal,
): Page | Promise<ToolResult> {
  const { link, reference, answer, warnings } = question;
  const isOwn = link.startsWith(reference) && /^(?:[/?#]|$)/.test(link.slice(reference.length));
  const where = question.isEphemeral ? ' It opens in a browser on this machine.' : '';
  const page: Page = {
    url: link,
    message: `${text}\nThe answer goes to ${file}, and not into the conversation.`,
    answered: answer,
    shown: async (action, signal) => {
      if (action === 'accept')
        return withMessages(await answerTo(question, seconds, signal), warnings);
      if (action !== undefined) await question.close();
      const text =
        action === undefined
          ? `Give this link to the person who knows the answer: ${link}${where}\nThen call wait with ${isOwn ? 'this link' : reference}. The answer is saved to ${file}.`
          : `The person did not open the page (${action}); the question is closed.`;
      return withMessages({ text }, warnings);
    },
  };
  return isOwn ? page : page.shown(undefined, signal);
}

export async function answerTo(
  { answer, reference }: Question,
  seconds: number,
  signal: AbortSignal,
): Promise<ToolResult> {
  const over = limited(signal, seconds * 1000);
  const late = { text: `no answer within ${seconds} s; call wait with ${reference} to wait on` };
  return raceWithLimit(answer, { signal: over }, () => late);
}

/** Serves the page in the background until it is answered. */
async function askEphemeral(
  session: McpSession,
  { question, expire, file }: Arguments<'ask'>,
  place: string,
): Promise<Question | ToolResult> {
  const closing = new AbortController();
  const events = new EventEmitter();
  const report = new SaveReport(place, file);
  const happened = (event: RunEvent) => {
    report.add(event);
    events.emit(event.event, event);
  };
  const linked = once(events, 'link').then(([{ link }]): string => link);
  // `lost` means that the answer is saved; the run continues, so that the browser can repeat its HTTP request.
  const delivered = once(events, 'lost').then(() => ({ status: 0, stdout: '', stderr: '' }));
  const words = ['--here', '--host=127.0.0.1', '--quiet', `--output=${place}`];
  const argv = [...words, `--expire=${expire}`, '--', question];
  const ran = session.local('request', argv, { signal: closing.signal, happened });
  const link = await Promise.race([linked, ran.then(() => undefined)]);
  if (link === undefined) return failure(await ran);
  const answer = Promise.race([ran, delivered]).then((ended) => report.result(ended));
  const close = async () => {
    closing.abort();
    await ran;
  };
  return { link, reference: link, isEphemeral: true, warnings: '', answer, over: false, close };
}

/**
 * Creates a request, which is closed again if the person declines. Returns undefined without an instance and its token,
 * or if the instance does not support requests, or could read the answer.
 */
async function askInstance(
  session: McpSession,
  { question, expire, file }: Arguments<'ask'>,
  place: string,
): Promise<Question | ToolResult | undefined> {
  const target = session.target();
  if (target instanceof NoInstance || target.token === undefined) return undefined;
  const closing = new AbortController();
  const world = { signal: closing.signal };
  const words = ['--json', `--expire=${expire}`, '--', question];
  const asking = await session.command('request', words, world);
  if (asking.status === exitStatus.rejected) return undefined;
  if (asking.status !== 0) return failure(asking);
  const { html_url, url_token } = JSON.parse(asking.stdout) as Record<string, string>;
  const link = safe(`${html_url}`);
  const reference = `${target.base}/r/${url_token}`;
  const linkArgs = linkWords(reference);
  const save = async () => {
    const waited = await session.command('wait', ['--json', ...linkArgs], world);
    if (waited.status !== 0) return failure(waited);
    return saveTo(session, { place, file }, linkArgs, world.signal);
  };
  const answer = save();
  const close = async () => {
    closing.abort();
    await answer;
    const ended = await session.command('expire', ['--json', ...linkArgs], {
      signal: session.signal,
    });
    if (ended.status !== 0) throw new CliError('failed', failure(ended).text);
  };
  const warnings = messagesIn(asking.stderr);
  return { link, reference, isEphemeral: false, warnings, answer, over: false, close };
}

export async function saveTo(
  session: McpSession,
  { place, file }: { readonly place: string; readonly file: string },
  linkArgs: readonly string[],
  signal: AbortSignal,
): Promise<ToolResult> {
  const report = new SaveReport(place, file);
  const happened = (event: RunEvent) => report.add(event);
  const words = [`--output=${place}`, ...linkArgs];
  return report.result(await session.command('get', words, { signal, happened }));
}
