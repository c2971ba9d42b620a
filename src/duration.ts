const units = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, mo: 2_592_000 } as const;

/** The seconds of a text such as `45m`, `1h30m` or `2w`; a month (`mo`) has 30 days. Undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,9}(mo|[smhdw]))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+)(mo|[smhdw])/g);
  let seconds = 0;
  for (const [, count, unit] of parts) seconds += Number(count) * units[unit as keyof typeof units];
  return seconds;
}
