/** Text that is HTML already. */
export class Markup {
  constructor(readonly html: string) {}
}

type Content = Markup | string | number | false | readonly Markup[];

/** HTML as a template; whatever is put in is escaped, unless it is markup. */
export function markup(strings: TemplateStringsArray, ...contents: Content[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...contents.map(render)));
}

function render(content: Content): string {
  if (content === false) return '';
  if (content instanceof Markup) return content.html;
  if (typeof content === 'object') return content.map(render).join('');
  return escaped(String(content));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // A parser would make a line feed of it.
  '\r': '&#13;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"'\r]/g, (character) => entities[character] as string);
}
