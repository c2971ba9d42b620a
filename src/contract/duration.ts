const units = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, mo: 2_592_000 } as const;

/** The seconds of a text such as `45m`, `1h30m` or `2w`; a month (`mo`) has 30 days. Undefined if the text is invalid. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d{1,9}(mo|[smhdw]))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+)(mo|[smhdw])/g);
  let seconds = 0;
  for (const [, count, unit] of parts) seconds += Number(count) * units[unit as keyof typeof units];
  return seconds;
}

/** Seconds in words: `45 minutes`, `1 day 12 hours`. */
export function durationText(seconds: number): string {
  const words: string[] = [];
  let left = Math.round(seconds);
  for (const [name, length] of [
    ['day', units.d],
    ['hour', units.h],
    ['minute', units.m],
    ['second', units.s],
  ] as const) {
    const count = Math.floor(left / length);
    left -= count * length;
    if (count > 0) words.push(counted(count, name));
  }
  return words.slice(0, 2).join(' ') || '0 seconds';
}

/** Seconds in the largest unit up to days that divides them: `2 days`, `90 minutes`. */
export function durationInOneUnit(seconds: number): string {
  if (seconds % units.d === 0) return counted(seconds / units.d, 'day');
  if (seconds % units.h === 0) return counted(seconds / units.h, 'hour');
  return counted(seconds / units.m, 'minute');
}

function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Seconds as `parseDuration` reads them, in the largest unit up to days: `36h`. */
export function durationCode(seconds: number): string {
  const fits = (['d', 'h', 'm'] as const).find((unit) => seconds % units[unit] === 0);
  return fits ? `${seconds / units[fits]}${fits}` : `${seconds}s`;
}
