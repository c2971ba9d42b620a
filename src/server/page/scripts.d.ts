/** A script of the page, bundled and minified (`.config/page-scripts.mjs`). */
declare module '*?script' {
  const script: string;
  export default script;
}
