export const titleOf = (html: string) => /<h1>(.*)<\/h1>/.exec(html)?.[1];

/** What a page says is wrong, without its links. */
export const problemsIn = (html: string) =>
  [...html.matchAll(/<p class="(?:wrong|problem)"[^>]*>(.*?)<\/p>/gs)].map(([, text = '']) =>
    text.replace(/<[^>]*>/g, ''),
  );

/** The words of a page. Newer versions of ICU write a narrow space in times. */
export const wordsIn = (html: string) =>
  html.replace(/<(style|script)>.*?<\/\1>|<[^>]*>/gs, '').replaceAll('\u202f', ' ');

export const secretIn = (html: string) => /<pre class="value[^>]*>\n([\s\S]*)<\/pre>/.exec(html)?.[1];

export const addressIn = (html: string) => /<bdo class="value" dir="ltr">(.*?)<\/bdo>/.exec(html)?.[1] ?? '';
