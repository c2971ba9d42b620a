/** A script of the page, bundled and minified (`.config/texts.mjs`). */
declare module '*?script' {
  const script: string;
  export default script;
}

/** The text of a file; JSON and style sheets come without white space. */
declare module '*?raw' {
  const text: string;
  export default text;
}
