import { isGuarded } from '../cli/agent';
import { type Invocation, toJson } from '../cli/terminal/output';
import type { CliError } from '../platform/errors';
import { printOrRescue } from './print-or-rescue';

/** What was created at an instance, and its link. */
export interface CreatedLink {
  /** As the instance returned it, for JSON. */
  readonly object: object;
  readonly link: string;
  readonly warnings: readonly string[];
  /** What the instance granted. */
  readonly summary?: string | undefined;
}

interface LinkOptions {
  readonly json: boolean;
  readonly copy: boolean;
  readonly qr: boolean;
}

/**
 * Prints the link, then warnings and the rest. The push or request exists: whatever fails, its link must not be lost. Returns the
 * error if stdout could not be written.
 */
export async function deliverLink(
  run: Invocation,
  options: LinkOptions,
  created: CreatedLink,
): Promise<CliError | undefined> {
  const { say } = run;
  const { link, warnings, summary } = created;
  const failure = await printLink(run, options, created);
  for (const warning of warnings) await say.warn(warning);
  if (options.copy) await copyLink(run, link);
  if (summary !== undefined) await say.remark(summary);
  if (options.qr) {
    const { drawQr } = await import('../cli/terminal/qr');
    await drawQr(say, link);
  }
  return failure;
}

/** Prints the link on a line. Returns the error if stdout could not be written. */
export async function printLink(
  { context }: Invocation,
  { json }: Pick<LinkOptions, 'json'>,
  { object, link }: Pick<CreatedLink, 'object' | 'link'>,
): Promise<CliError | undefined> {
  const safe = async () => (await import('../keep/safekeeping')).newSafe(context);
  const guarded = json && (await isGuarded(context));
  const text = json ? toJson({ ...object, html_url: link }, guarded) : link;
  return printOrRescue({ context, safe }, { bytes: `${text}\n`, what: 'link', link, json });
}

/** Without a clipboard the link is printed all the same. */
export async function copyLink({ context, say }: Invocation, link: string): Promise<void> {
  const { copiedText, findClipboard } = await import('../platform/clipboard');
  const clipboard = await findClipboard(context);
  if (!clipboard) return say.warn('the link was not copied: no clipboard found');
  if (await clipboard.write(link)) return say.note(copiedText(clipboard));
  return say.warn(`the link was not copied: ${clipboard.name} did not accept it`);
}
