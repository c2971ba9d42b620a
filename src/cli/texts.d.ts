/** The lines of a file in the order of the alphabet (`.config/texts.mjs`). */
declare module '*?lines' {
  const lines: readonly string[];
  export default lines;
}

/** Files by their path, each in a chunk of its own; `import` chooses an export of them. */
interface ImportMeta {
  glob<T>(
    paths: string | readonly string[],
    how?: { readonly query?: string; readonly import?: string },
  ): Readonly<Record<string, () => Promise<T>>>;
}

/** The text of a file. */
declare module '*?raw' {
  const text: string;
  export default text;
}
