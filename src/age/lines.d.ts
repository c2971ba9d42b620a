/** `.config/texts.mjs` imports the lines of a file in alphabetical order. */
declare module '*?lines' {
  const lines: readonly string[];
  export default lines;
}
