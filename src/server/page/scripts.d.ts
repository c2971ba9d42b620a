/** A script of the page, bundled and minified (`.config/texts.mjs`). */
declare module '*?script' {
  const script: string;
  export default script;
}

/** The text of a file. */
declare module '*?raw' {
  const text: string;
  export default text;
}
