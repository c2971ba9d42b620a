import { EscapedText, escapesOf, LARGE, type Pieces } from '../http/escaped-text';

/** Text that is HTML already; what is large in it is escaped as it is sent. */
export class Markup {
  readonly pieces: Pieces;

  constructor(html: string | Pieces) {
    this.pieces = typeof html === 'string' ? [html] : html;
  }
}

type Content = Markup | string | number | false | readonly Markup[];

/** HTML as a template; whatever is put in is escaped, unless it is markup. */
export function markup(strings: TemplateStringsArray, ...contents: Content[]): Markup {
  const pieces: (string | EscapedText)[] = [];
  let text = '';
  for (const [at, string] of strings.entries()) {
    text += string;
    for (const piece of at < contents.length ? piecesOf(contents[at] as Content) : []) {
      if (typeof piece === 'string') text += piece;
      else {
        pieces.push(text, piece);
        text = '';
      }
    }
  }
  return new Markup([...pieces, text]);
}

function piecesOf(content: Content): Pieces {
  if (content === false) return [];
  if (content instanceof Markup) return content.pieces;
  if (typeof content === 'object') return content.flatMap(({ pieces }) => pieces);
  const text = String(content);
  return [text.length < LARGE ? escaped(text) : new EscapedText(text, htmlEscapes)];
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A parser would make a line feed of it.
  '\r': '&#13;',
  // HTML has no NUL.
  '\0': '␀',
};
const htmlEscapes = escapesOf(entities);

function escaped(text: string): string {
  return text.replace(/[&<>"'\r\0]/g, (character) => entities[character] as string);
}
