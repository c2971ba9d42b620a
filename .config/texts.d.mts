import type { Plugin } from 'vite';

/** Files that are imported as texts: scripts of pages, bundled and minified, and style sheets. */
export function texts(): Plugin;
