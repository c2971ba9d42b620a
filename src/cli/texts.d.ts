/** Each file is in a chunk of its own; `import` chooses an export of the files. */
interface ImportMeta {
  glob<T>(
    paths: string | readonly string[],
    how?: { readonly query?: string; readonly import?: string },
  ): Readonly<Record<string, () => Promise<T>>>;
}

declare module '*?raw' {
  const text: string;
  export default text;
}
