import { safe, safeJson } from '../../cli/terminal/safe';
import type { Attachment } from '../../client/form';
import { API_PATH, type NewPush, routes } from '../../contract/api';
import { size } from '../../contract/byte-size';
import type { Target } from '../../profile/target';
import { inClear } from '../../send/create';
import { type Draft, requestOf } from '../../send/draft';
import type { EncryptMode } from '../../send/encryption';

const MASK = '***';
const masked = new Set(['payload', 'passphrase', 'note', 'key_proof', 'key_salt']);

const ENCRYPTED = {
  link: 'with a key in the link',
  words: 'with words',
  keys: 'to public keys',
};

/** Returns the HTTP request with its secrets masked, and with the names, types and sizes of files. */
export async function dryRunText(draft: Draft, target: Target, json: boolean): Promise<string> {
  const { request, files } = await requestOf(draft);
  const encryption = draft.plan.seal.encryption?.mode;
  const { method, path } = routes.create;
  const headers = Object.keys((await target.headers?.()) ?? {});
  const url = `${target.base}${API_PATH}${path}`;
  const authorization = target.token === undefined ? undefined : `Bearer ${MASK}`;
  const fields = Object.entries(request).map(([field, value]): [string, unknown] => [
    field,
    masked.has(field) ? MASK : value,
  ]);
  const shown = Object.fromEntries(fields);
  const { account } = target;
  const beside = account === undefined ? {} : { account_id: account };
  if (json) {
    const parts = files?.map(({ name, type, size }) => ({
      filename: name,
      content_type: type,
      size,
    }));
    const body = { push: { ...shown, files: parts }, ...beside };
    const names = headers.length === 0 ? undefined : headers;
    const sealed = files ? ['payload', 'files'] : ['payload'];
    const encrypted = encryption ? sealed : [];
    return `${safeJson(JSON.stringify({ method, url, authorization, headers: names, body, encrypted }))}\n`;
  }
  const masks = headers.map((name) => `${name}: ${MASK}\n`).join('');
  const header = masks + (authorization === undefined ? '' : `authorization: ${authorization}\n`);
  const type = files ? 'multipart/form-data' : 'application/json';
  const body = files
    ? formText(fields, files, Object.entries(beside))
    : jsonText({ push: shown, ...beside });
  const encrypted = encryption ? encryptedText(encryption, shown, files) : `\n${inClear('it')}\n`;
  return `${method} ${safe(url)}\n${header}content-type: ${type}\n\n${body}\n${encrypted}`;
}

function encryptedText(
  encryption: EncryptMode,
  { payload: _encrypted, key_proof: _, key_salt: __, ...clear }: Partial<NewPush>,
  files: readonly Attachment[] = [],
): string {
  const parts = ['payload', ...files.map(({ name, shownAs }) => `${name} (${shownAs})`)];
  const others = Object.keys(clear);
  const rest = others.length === 0 ? '' : `not encrypted: ${others.join(', ')}\n`;
  return `\nencrypted ${ENCRYPTED[encryption]}: ${safe(parts.join(', '))}\n${rest}`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).split('\n').map(safeJson).join('\n');
}

function formText(
  fields: readonly [string, unknown][],
  files: readonly Attachment[],
  beside: readonly [string, unknown][],
): string {
  const lines = [
    ...fields.map(([field, value]) => `push[${field}]: ${value}`),
    ...beside.map(([field, value]) => `${field}: ${value}`),
    ...files.map(
      ({ name, type, size: bytes }) => `push[files][]: ${name} (${type}, ${size(bytes)})`,
    ),
  ];
  return lines.map(safe).join('\n');
}
