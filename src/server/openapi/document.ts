import { type ConversionConfig, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { API_VERSION, kinds, limits, type Route, requestRoutes, routes } from '../../contract';
import { pushSchema } from '../rules/new-push';
import { requestSchema, responseSchema } from '../rules/new-request';
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
  requestOperations,
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
  for (const { name, route, operation } of calls) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const call = callOf(name, operation, instance);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: call };
  }
  return paths;
}

interface Call {
  /** The `operationId`. */
  readonly name: string;
  readonly route: Route;
  readonly operation: Operation;
}

const calls: readonly Call[] = [
  ...Object.entries(operations).map(([name, operation]) => {
    return { name, route: routes[name as CallName], operation };
  }),
  ...Object.entries(requestOperations).map(([name, operation]) => {
    const route = requestRoutes[name as keyof typeof requestRoutes];
    return { name: `request${name.charAt(0).toUpperCase()}${name.slice(1)}`, route, operation };
  }),
];

function callOf(name: string, operation: Operation, { anonymous }: Described): Json {
  const body = requestBodies[name];
  const { summary, description, parameters: wanted = [] } = operation;
  const open = operation.caller === 'anybody' || (operation.caller === 'permitted' && anonymous);
  return {
    operationId: name,
    summary,
    ...(description === undefined ? {} : { description }),
    security: open ? [{}, { token: [] }] : [{ token: [] }],
    ...(wanted.length > 0 ? { parameters: wanted.map((one) => ref('parameters', one)) } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: responsesOf(name, operation),
  };
}

/** The bodies of the calls that have one: in JSON, as a form, and with files. */
const requestBodies: Readonly<Record<string, Json>> = {
  create: bodyOf('Creation'),
  requestCreate: bodyOf('RequestCreation'),
  requestRespond: bodyOf('Answer'),
};

function bodyOf(schema: string): Json {
  return {
    required: true,
    content: {
      'application/json': { schema: ref('schemas', schema) },
      'application/x-www-form-urlencoded': { schema: ref('schemas', `${schema}Fields`) },
      'multipart/form-data': { schema: ref('schemas', `${schema}Form`) },
    },
  };
}

function responsesOf(name: string, operation: Operation): Json {
  const refused = [...operation.refusals, ...(name === 'version' ? [] : everyCall)];
  return {
    ...mapped(operation.responses, ({ words, schema }) => response(words, ref('schemas', schema))),
    ...Object.fromEntries(refused.map((status) => [status, ref('responses', `${status}`)])),
    ...(operation.parameters?.includes('passphrase') ? { 401: passphraseNeeded } : {}),
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
  const asking = v.omit(requestSchema(bounds), ['files', 'notify_emails_to']);
  const answering = v.object({
    ...v.omit(responseSchema, ['files']).entries,
    passphrase: v.optional(
      v.pipe(v.string(), v.description('Needed where the request has one; before the files.')),
    ),
  });
  const schemas = { ...bodies, NewPush: creation, NewRequest: asking, NewAnswer: answering };
  const { NewPush, NewRequest, NewAnswer, ...others } = toJsonSchemaDefs(schemas, conversion);
  const push = propertiesOf(NewPush, 'payload');
  const request = propertiesOf(NewRequest, 'request');
  const answer = propertiesOf(NewAnswer, 'response');
  return {
    ...others,
    ...inputSchemas('Creation', 'NewPush', 'push', push, 'payload'),
    CreationForm: formOf('push', fileBytes, {
      ...fieldsOf('push', push),
      'push[payload]': {
        type: 'string',
        description: 'A message; needed where there are no files.',
      },
      'push[kind]': { enum: kinds, description: 'file where there are files, and nowhere else.' },
    }),
    ...inputSchemas('RequestCreation', 'NewRequest', 'request', request, 'request'),
    RequestCreationForm: {
      ...formOf('request', fileBytes, fieldsOf('request', request)),
      required: ['request[request]'],
    },
    ...inputSchemas('Answer', 'NewAnswer', 'request', answer, 'response'),
    AnswerForm: formOf('request', fileBytes, fieldsOf('request', answer)),
  };
}

/** The properties of a derived schema, whose text has no default: without files it is required. */
function propertiesOf(schema: unknown, text: string): Json {
  const { properties } = schema as { readonly properties: Record<string, Json> };
  const { default: _, ...required } = properties[text] ?? {};
  return { ...properties, [text]: required };
}

/** The object of a body, and bodies with it in JSON and as a form. */
function inputSchemas(
  body: string,
  name: string,
  root: string,
  properties: Json,
  text: string,
): Json {
  return {
    [name]: { type: 'object', properties, required: [text] },
    [body]: { type: 'object', properties: { [root]: ref('schemas', name) }, required: [root] },
    [`${body}Fields`]: {
      type: 'object',
      properties: fieldsOf(root, properties),
      required: [`${root}[${text}]`],
    },
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
function fieldsOf(root: string, fields: Json): Json {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [`${root}[${name}]`, field]),
  );
}

function formOf(root: string, fileBytes: number, fields: Json): Json {
  return {
    type: 'object',
    properties: {
      ...fields,
      [`${root}[files][]`]: {
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
