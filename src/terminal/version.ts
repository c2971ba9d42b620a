import type { InstanceVersion } from '../api/contract';
import type { Look } from './look';
import { safe } from './safe';

/** This program, the instance, and what the instance can do: one `name<TAB>value` a line in a pipe. */
export function versionText(
  program: string,
  base: string,
  version: InstanceVersion,
  look: Look,
): string {
  const rows: [string, string][] = [
    ['pwpush', program],
    ['instance', base],
    ['application', version.application_version ?? ''],
    ['api', version.api_version ?? ''],
    ['edition', version.edition ?? ''],
    ...features(version.features ?? {}, ''),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const line = ([name, value]: [string, string]) =>
    look.tty
      ? `${look.paint('bold', safe(name).padEnd(width))}  ${safe(value)}`
      : `${safe(name)}\t${safe(value)}`;
  return rows.map((row) => `${line(row)}\n`).join('');
}

/** Nested objects as `pushes.file_attachments.enabled`; two levels are known, deeper ones are nonsense. */
function features(object: Record<string, unknown>, prefix: string, depth = 0): [string, string][] {
  return Object.entries(object).flatMap(([key, value]): [string, string][] => {
    const name = `${prefix}${key}`;
    if (typeof value === 'object' && value !== null && depth < 4) {
      return features(value as Record<string, unknown>, `${name}.`, depth + 1);
    }
    return [[name, typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value)]];
  });
}
