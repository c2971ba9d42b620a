import { size } from '../byte-size';
import type { Attachment } from '../client/form';
import { API_PATH, type NewPush, routes } from '../contract';
import { safe, safeJson } from './safe';

const MASK = '***';
const masked = new Set(['payload', 'passphrase', 'note']);

/** The request that `--dry-run` shows, with its secrets masked; of files it has their names, types and sizes. */
export function dryRunText(
  target: { base: string; token?: string | undefined },
  push: NewPush,
  json: boolean,
  files?: readonly Attachment[],
): string {
  const { method, path } = routes.create;
  const url = `${target.base}${API_PATH}${path}`;
  const authorization = target.token === undefined ? undefined : `Bearer ${MASK}`;
  const fields = Object.entries(push).map(([field, value]): [string, unknown] => [
    field,
    masked.has(field) ? MASK : value,
  ]);
  const named = Object.fromEntries(fields);
  if (json) {
    const parts = files?.map(({ name, type, size }) => ({
      filename: name,
      content_type: type,
      size,
    }));
    const body = { push: { ...named, files: parts } };
    return `${safeJson(JSON.stringify({ method, url, authorization, body }))}\n`;
  }
  const header = authorization === undefined ? '' : `authorization: ${authorization}\n`;
  const type = files ? 'multipart/form-data' : 'application/json';
  const body = files ? formText(fields, files) : jsonText({ push: named });
  return `${method} ${safe(url)}\n${header}content-type: ${type}\n\n${body}\n`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(safeJson).join('\n');
}

function formText(fields: readonly [string, unknown][], files: readonly Attachment[]): string {
  const lines = [
    ...fields.map(([field, value]) => `push[${field}]: ${value}`),
    ...files.map(
      ({ name, type, size: bytes }) => `push[files][]: ${name} (${type}, ${size(bytes)})`,
    ),
  ];
  return lines.map(safe).join('\n');
}
