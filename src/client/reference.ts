import { usageError } from '../errors';
import { withScheme } from '../loopback';

/** A push as somebody names it: its token, and the instance when the name was an address. */
export interface Reference {
  readonly token: string;
  /** The instance's base address without a final slash; undefined for a bare token. */
  readonly base: string | undefined;
}

const TOKEN = '[A-Za-z0-9_-]{1,128}';
const bareToken = new RegExp(`^${TOKEN}$`);
/** `{base}/p/T`, `/f/T`, `/r/T` or `/api/v2/pushes/T`, with what the pages and v1 append to it. */
const pushPath = new RegExp(
  `^(.*?)/(?:(?:p|f|r)|api/v2/pushes)/(${TOKEN})(?:\\.json)?(?:/(?:r|preview|passphrase|audit)(?:\\.json)?)*/*$`,
);

const HINT = 'give the link as you got it, such as https://pwpush.example/p/abc123, or its token';

/** Opening brackets and quotes of any language; `[::1]` of an address is none of them. */
const BEFORE = /^(?:(?!\[[\da-f.]*:[\da-f:.]*\])[\p{Ps}\p{Pi}\p{Pf}\s<"'`*])+/iu;
/** The closing ones, and what ends a sentence. An ellipsis stays: it says that the link was cut. */
const AFTER =
  /(?:[\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s>"'`*,;:!?\u3001\u3002\uff0c\uff01\uff1b\uff1f]|(?<!\.)\.(?!\.))+$/u;
/** A link of Markdown: `[text](link)`. */
const MARKDOWN = /^\[[^\]]*\]\(([^()]+)\)/;

/** A link or token without the brackets, quotes and punctuation of the text that it was copied from. */
function withoutSurroundings(pasted: string): string {
  const text = pasted.trim();
  return (MARKDOWN.exec(text)?.[1] ?? text).replace(BEFORE, '').replace(AFTER, '');
}

/**
 * Reads whatever people paste for a push (docs/wire.md, "Tokens and addresses").
 * @throws CliError (usage) when it is no link or token; the message does not repeat it.
 */
export function parseReference(pasted: string): Reference {
  const text = withoutSurroundings(pasted);
  if (text === '') throw usageError('the link is empty', HINT);
  if (bareToken.test(text)) return { token: text, base: undefined };
  const url = parseUrl(text);
  const match = url && pushPath.exec(url.pathname);
  if (!url || !match?.[2]) throw usageError('that is not a link or token of a push', HINT);
  if (url.username || url.password) {
    throw usageError(
      'the link carries a user name or password in its address',
      'remove what stands before the @',
    );
  }
  return { token: match[2], base: url.origin + (match[1] ?? '') };
}

/** Addresses are also pasted without their scheme. */
function parseUrl(text: string): URL | undefined {
  if (!/^[^/\s]+\//.test(text)) return undefined;
  try {
    const url = new URL(withScheme(text));
    return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
  } catch {
    return undefined;
  }
}
