import { statSync } from 'node:fs';
import { isGuarded } from '../cli/agent';
import { type Entry, toJson } from '../cli/terminal/output';
import { savedText } from '../cli/terminal/wording';
import { isLoopback } from '../contract/address';
import { type CliError, phrase } from '../platform/errors';
import { printResult, tryWrite } from './print-result';

export interface CreatedLink {
  readonly object: object;
  readonly link: string;
  readonly secrets?: Readonly<Record<string, string | undefined>> | undefined;
  readonly warnings: readonly string[];
  readonly summary?: string | undefined;
  /** New files, named by the user, with what opens the link, such as its key. */
  readonly written?: readonly string[];
}

interface LinkPlan {
  readonly copy: boolean;
  readonly qr: boolean;
}

/**
 * Prints the link of what was created, which must not be lost. Returns the error if stdout could not be written.
 * @param last the last lines on a terminal
 */
export async function printCreated(
  entry: Entry,
  created: CreatedLink,
  { copy, qr }: LinkPlan,
  last = qr ? reachNote(created.link) : [],
): Promise<CliError | undefined> {
  const { say } = entry;
  const { link, warnings, summary, written = [] } = created;
  const saved = written.map((path) => savedText(path, sizeOf(path)));
  const remarks = [summary ?? [], last].flat();
  const warned = warnings.map((warning) => `warning: ${warning}`);
  const below = [link, ...saved, ...warned, copy ? 'copied' : [], ...remarks].flat();
  if (qr) await (await drawing()).drawQr(entry, link, below);
  const failure = await printLink(entry, created);
  for (const line of saved) await say.note(line);
  for (const warning of warnings) await say.warn(warning);
  if (copy) await copyLink(entry, link);
  if (!failure) for (const line of remarks) await say.remark(line);
  return failure;
}

export const ONLY_HERE = 'only this machine can reach that address';

export function reachNote(link: string): readonly string[] {
  return isLoopback(new URL(link).hostname) ? [ONLY_HERE] : [];
}

/** Returns whether a link of this machine is drawn without `--qr`, for phones in the same network. */
export function isForPhones({ context, say }: Entry, link: string): boolean {
  const { quiet, json } = say.manner;
  return context.stderr.isTTY && !quiet && !json && !isLoopback(new URL(link).hostname);
}

/** Another program may have removed the file. */
const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** The module takes 5 ms to load. */
export const drawing = () => import('../cli/terminal/qr');

/** Prints the link. If stdout fails, the link goes to stderr or is saved, and the error is returned. */
export async function printLink(
  { context, say }: Entry,
  { object, link, secrets }: Pick<CreatedLink, 'object' | 'link' | 'secrets'>,
): Promise<CliError | undefined> {
  const { json } = say.manner;
  const text = json
    ? toJson({ ...object, html_url: link }, await isGuarded(context), secrets)
    : link;
  const failure = await printResult(context, `${text}\n`);
  if (!failure) return undefined;
  const { stdout, stderr } = context;
  // A link is of no use without the passphrase that was generated for it.
  if (!stderr.closed && !(json && Object.keys(secrets ?? {}).length > 0)) {
    if (json) return failure.and(phrase('link-is', link)).with({ remains: { link } });
    if ((await tryWrite(context, stderr, `${link}\n`)) === undefined)
      // A stdout that was closed before the start looks like one sent to /dev/null on purpose.
      return stdout.closed ? undefined : failure.and(phrase('link-is-here'));
  }
  const { RescueStore } = await import('../keep/rescue-store');
  return new RescueStore(context).rescue(failure, { part: 'link', bytes: `${text}\n` });
}

export async function copyLink({ context, say }: Entry, link: string): Promise<void> {
  const { copiedText, findClipboard } = await import('../platform/clipboard');
  const clipboard = await findClipboard(context);
  if (!clipboard) return say.warn('the link was not copied: no clipboard found');
  if (await clipboard.write(link)) return say.note(copiedText(clipboard));
  return say.warn(`the link was not copied: ${clipboard.name} did not accept it`);
}
