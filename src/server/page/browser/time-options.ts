/** How times are written, by the page in UTC and by its script in the reader's time zone. */
export const timeOptions = {
  date: {
    ...{ day: 'numeric', month: 'long', year: 'numeric' },
    ...{ hour: 'numeric', minute: '2-digit', timeZoneName: 'short' },
  },
  clock: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
