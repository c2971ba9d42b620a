const units = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Returns `512 B`, `1.5 KiB` or `2.0 GiB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  // 1023.95 is the first value that toFixed(1) writes as 1024.0.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/** Writes bytes as a whole number of their largest unit: `32 MiB`, `50 KB`. */
export function wholeSize(bytes: number): string {
  const units = Object.entries({ TiB: 1024 ** 4, MiB: 1024 ** 2, KB: 1000 });
  const [unit, size] = units.find(([, size]) => bytes % size === 0) ?? ['B', 1];
  return `${bytes / size} ${unit}`;
}
