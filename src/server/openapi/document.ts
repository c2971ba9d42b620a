import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { API_VERSION, kinds, limits, routes } from '../../contract';
import { pushSchema } from '../rules/new-push';
import type { Bounds } from '../service-settings';
import {
  bodies,
  type CallName,
  everyCall,
  type Operation,
  operations,
  parameters,
  type Refused,
  refusals,
} from './operations';

export interface Described {
  readonly bounds: Bounds;
  readonly fileBytes: number;
  readonly anonymous: boolean;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * This instance's API as OpenAPI 3.1, without `servers`, which depend on the request. The caller keeps the document:
 * making it takes milliseconds, and anybody may request it.
 */
export function openApi(instance: Described): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Password Pusher',
      version: API_VERSION,
      description: 'Hands over secrets as links that stop working.',
    },
    paths: pathsOf(instance),
    components: {
      schemas: schemasOf(instance),
      parameters,
      responses: mapped(refusals, (refused, status) =>
        refusalOf(Number(status) as Refused, refused),
      ),
      headers: {
        RetryAfter: {
          description: 'Seconds to wait.',
          required: true,
          schema: { type: 'integer', minimum: 1 },
        },
        WwwAuthenticate: {
          description: 'Where a token would help, but not where a passphrase would.',
          schema: { const: 'Bearer' },
        },
      },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'An API token.' },
      },
    },
  };
}

function pathsOf(instance: Described): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const name of Object.keys(operations) as CallName[]) {
    const route = routes[name];
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: callOf(name, instance) };
  }
  return paths;
}

function callOf(name: CallName, { anonymous }: Described): Json {
  const operation = operations[name];
  const { summary, description, parameters: wanted = [] } = operation;
  const open = operation.caller === 'anybody' || (operation.caller === 'permitted' && anonymous);
  return {
    operationId: name,
    summary,
    ...(description === undefined ? {} : { description }),
    security: open ? [{}, { token: [] }] : [{ token: [] }],
    ...(wanted.length > 0 ? { parameters: wanted.map((one) => ref('parameters', one)) } : {}),
    ...(name === 'create' ? { requestBody: creationBody } : {}),
    responses: responsesOf(name, operation),
  };
}

const creationBody = {
  required: true,
  content: {
    'application/json': { schema: ref('schemas', 'Creation') },
    'application/x-www-form-urlencoded': { schema: ref('schemas', 'CreationFields') },
    'multipart/form-data': { schema: ref('schemas', 'CreationForm') },
  },
};

function responsesOf(name: CallName, operation: Operation): Json {
  const refused = [...operation.refusals, ...(name === 'version' ? [] : everyCall)];
  return {
    ...mapped(operation.responses, ({ words, schema }) => response(words, ref('schemas', schema))),
    ...Object.fromEntries(refused.map((status) => [status, ref('responses', `${status}`)])),
    ...(name === 'retrieve' ? { 401: passphraseNeeded } : {}),
  };
}

const passphraseNeeded = response(
  'A token or the passphrase is needed, or is not valid.',
  { anyOf: [ref('schemas', 'PassphraseError'), ref('schemas', 'Error')] },
  { 'WWW-Authenticate': ref('headers', 'WwwAuthenticate') },
);

function refusalOf(status: Refused, { words, schema }: (typeof refusals)[Refused]): Json {
  const waits = status === 429 || status === 503;
  return response(words, ref('schemas', schema), {
    ...(waits ? { 'Retry-After': ref('headers', 'RetryAfter') } : {}),
    ...(status === 401 ? { 'WWW-Authenticate': ref('headers', 'WwwAuthenticate') } : {}),
  });
}

function response(description: string, schema: Json, headers: Json = {}): Json {
  const content = { 'application/json': { schema } };
  return { description, ...(Object.keys(headers).length > 0 ? { headers } : {}), content };
}

function schemasOf({ bounds, fileBytes }: Described): Json {
  const creation = v.omit(pushSchema(bounds, false), ['files', 'notify_emails_to']);
  const { NewPush, ...others } = toJsonSchemaDefs({ ...bodies, NewPush: creation }, conversion);
  const derived = NewPush as unknown as { readonly properties: Record<string, Json> };
  const { payload, ...optional } = derived.properties;
  const { default: _, ...required } = payload ?? {};
  const properties = { payload: required, ...optional };
  return {
    ...others,
    NewPush: { type: 'object', properties, required: ['payload'] },
    Creation: {
      type: 'object',
      properties: { push: ref('schemas', 'NewPush') },
      required: ['push'],
    },
    CreationFields: {
      type: 'object',
      properties: fieldsOf(properties),
      required: ['push[payload]'],
    },
    CreationForm: formOf(properties, fileBytes),
  };
}

const conversion: ConversionConfig = {
  target: 'draft-2020-12',
  typeMode: 'input',
  ignoreActions: ['check'],
  overrideRef: ({ referenceId }) => ref('schemas', referenceId).$ref,
  // Undocumented: null for a default, and strings for numbers and booleans. Forms send them; a client need not.
  overrideSchema: ({ valibotSchema: { type }, jsonSchema: { anyOf = [], ...rest } }) =>
    type === 'nullish' || type === 'union' ? { ...(anyOf[0] as object), ...rest } : undefined,
  overrideAction: ({ valibotAction, jsonSchema }) =>
    'metadata' in valibotAction
      ? { ...jsonSchema, ...(valibotAction.metadata as object) }
      : undefined,
};

/** The same fields under the names that a form has for them. */
function fieldsOf(fields: Json): Json {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [`push[${name}]`, field]),
  );
}

function formOf(fields: Json, fileBytes: number): Json {
  return {
    type: 'object',
    properties: {
      ...fieldsOf(fields),
      'push[payload]': {
        type: 'string',
        description: 'A message; needed where there are no files.',
      },
      'push[kind]': { enum: kinds, description: 'file where there are files, and nowhere else.' },
      'push[files][]': {
        type: 'array',
        maxItems: limits.filesPerPush,
        items: {
          type: 'string',
          contentMediaType: 'application/octet-stream',
          description: `Up to ${fileBytes} bytes.`,
          maxLength: fileBytes,
        },
      },
    },
  };
}

function ref(kind: string, name: string): { readonly $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

function mapped<T>(
  record: Readonly<Record<string, T>>,
  change: (value: T, key: string) => Json,
): Json {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, change(value, key)]),
  );
}
