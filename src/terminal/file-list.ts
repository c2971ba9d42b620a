import { size } from '../byte-size';
import type { Attachment } from '../client/form';
import { API_PATH, type NewPush, routes } from '../contract';
import { safe, safeJson } from './safe';

const MASK = '***';
const masked = new Set(['payload', 'passphrase', 'note']);

/** What `--dry-run` shows of a creation with files: the fields, secrets masked, and the files' names. */
export function dryRunFilesText(
  target: { base: string; token?: string | undefined },
  push: NewPush,
  files: readonly Attachment[],
  json: boolean,
): string {
  const { method, path } = routes.create;
  const url = `${target.base}${API_PATH}${path}`;
  const authorization = target.token === undefined ? undefined : `Bearer ${MASK}`;
  const fields = Object.entries(push).map(([field, value]): [string, unknown] => [
    field,
    masked.has(field) ? MASK : value,
  ]);
  if (json) {
    const parts = files.map((file) => ({
      filename: file.name,
      content_type: file.type,
      size: file.size,
    }));
    const body = { push: { ...Object.fromEntries(fields), files: parts } };
    return `${safeJson(JSON.stringify({ method, url, authorization, body }))}\n`;
  }
  const header = authorization === undefined ? '' : `authorization: ${authorization}\n`;
  const lines = [
    ...fields.map(([field, value]) => `push[${field}]: ${value}`),
    ...files.map(
      ({ name, type, size: bytes }) => `push[files][]: ${name} (${type}, ${size(bytes)})`,
    ),
  ];
  return `${method} ${safe(url)}\n${header}content-type: multipart/form-data\n\n${lines.map((line) => `${safe(line)}\n`).join('')}`;
}

/** Where a file went: `saved report (2).pdf (1.2 MiB); report.pdf was there`. */
export function savedText(path: string, bytes: number, taken: string | undefined): string {
  return `saved ${path} (${size(bytes)})${taken === undefined ? '' : `; ${taken} was taken`}`;
}
