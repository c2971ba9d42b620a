/** The server writes times in these formats in UTC, `every-page.ts` in the reader's time zone. */
export const timeOptions = {
  date: {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  },
  clock: { hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** Returns `7 bytes` or `1.5 MiB`; the units from KiB on are international (IEC 80000-13). */
export function sizeText(bytes: number, locale: string): string {
  const power = Math.min(4, Math.floor(Math.log2(bytes || 1) / 10));
  const unit = { style: 'unit', unit: 'byte', unitDisplay: 'long' } as const;
  const format = new Intl.NumberFormat(locale, power === 0 ? unit : { maximumFractionDigits: 1 });
  const name = ['', '\u00a0KiB', '\u00a0MiB', '\u00a0GiB', '\u00a0TiB'][power];
  return format.format(bytes / 1024 ** power) + name;
}
