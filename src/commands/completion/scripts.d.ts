/** The text of a file (`.config/texts.mjs`). */
declare module '*?raw' {
  const text: string;
  export default text;
}
