import { frame, note } from './frame';
import { type Markup, markup } from './markup';

/** Characters of a text that is shown large: a password that somebody reads off. */
const SHORT = 40;

/** A text, to the character. */
export function textView(payload: string, title = 'Text'): Markup {
  const noun = title.toLowerCase();
  const nulls = payload.includes('\0');
  return markup`${frame(title, noun, preformatted(payload, `The ${noun}`))}${nulls && note(NULLS)}`;
}

export function preformatted(payload: string, label: string): Markup {
  const short = payload.length <= SHORT && !payload.includes('\n');
  // A parser drops the first line feed of a `pre`, so one is put there to be dropped.
  return markup`<pre class="${short ? 'value short' : 'value'}" tabindex="0" role="group" aria-label="${label}" dir="auto">
${payload}</pre>`;
}

const NULLS = markup`The text holds null characters, which a page cannot carry. They are shown and copied as ␀; <code>pwpush get</code> fetches the exact text.`;
