import { Markup } from './markup';

/** Lines in a square of 24. */
const drawings = {
  alert: 'M12 9v4.5m0 3v.01M12 3.5 22 20.5H2z',
  check: 'm5 12.5 4.5 4.5L19 7.5',
  clock: 'M12 7.5V12l3 2m6-2a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  copy: 'M9 9h11v11H9zM5.5 15H4V4h11v1.5',
  download: 'M12 4v11m-4.5-4.5L12 15l4.5-4.5M4.5 20h15',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM15 12a3 3 0 1 1-6 0 3 3 0 0 1 6 0Z',
  file: 'M14 3H6v18h12V7zm0 0v4h4',
  hide: 'M4 4l16 16M9.9 5.7C14.8 4.6 19 7.7 21.5 12c-.7 1.3-1.6 2.4-2.6 3.4M6.5 7.4C4.8 8.6 3.4 10.2 2.5 12c3 5.4 8.3 7.9 13 5.6',
  lock: 'M5 11h14v10H5zM8 11V7.5a4 4 0 0 1 8 0V11m-4 4v2',
  none: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM8 12h8',
  open: 'M14 4h6v6m0-6-9 9m7 1.5V20H4V6h5.5',
} as const;

/** A drawing that says nothing a screen reader needs to hear. */
export function icon(name: keyof typeof drawings, classes = 'icon'): Markup {
  return new Markup(
    `<svg class="${classes}" viewBox="0 0 24 24" aria-hidden="true"><path d="${drawings[name]}"/></svg>`,
  );
}

const KEYHOLE =
  'M6 0h12a6 6 0 0 1 6 6v12a6 6 0 0 1-6 6H6a6 6 0 0 1-6-6V6a6 6 0 0 1 6-6Zm6 5.5a3.7 3.7 0 0 0-1.9 6.9L9 18.5h6l-1.1-6.1A3.7 3.7 0 0 0 12 5.5Z';

/** The sign of the program, in the page and in the browser's tab. */
export const mark = new Markup(
  `<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path fill-rule="evenodd" d="${KEYHOLE}"/></svg>`,
);
export const markAddress = `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path fill='%2316806c' fill-rule='evenodd' d='${KEYHOLE}'/></svg>`;
