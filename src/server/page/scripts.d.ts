/** A script of the page, bundled and minified (`.config/texts.mjs`). */
declare module '*?script' {
  const script: string;
  export default script;
}

/** The text of a file; of a JSON file or a style sheet, without white space. */
declare module '*?raw' {
  const text: string;
  export default text;
}
