/** The lines of a file in the order of the alphabet (`.config/texts.mjs`). */
declare module '*?lines' {
  const lines: readonly string[];
  export default lines;
}

/** The text of a file. */
declare module '*?raw' {
  const text: string;
  export default text;
}
