import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { lazy } from '../../src/contract/lazy';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Response {
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  // biome-ignore lint/suspicious/noExplicitAny: schemas of any shape
  readonly components: any;
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly json: unknown;
}

/** The name that a document has for a call, if it is one of the API: `GET /pushes/{token}`. */
export function nameOf(method: string, path: string): string {
  const call = path.replace(/\?.*/s, '').replace(/^\/api\/v2(?=\/)/, '');
  const named = call
    .replace(/^\/pushes\/(?!active$|expired$)[\w-]+(?=\/|$)/, '/pushes/{token}')
    .replace(/^\/requests\/(?!(?:open|ready|closed|active)$)[\w-]+(?=\/|$)/, '/requests/{token}');
  return path.startsWith('/api/v2/') ? `${method} ${named}` : '';
}

export const documentFile = lazy(
  (): Document => JSON.parse(readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')),
);
export const published = lazy(() => described(documentFile()));

/** What a document says, its objects closed: what is answered must be described. */
function described(original: Document) {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats(ajv);
  const text = JSON.stringify(original).replaceAll('"#/components/', '"document#/components/');
  const document: Document = JSON.parse(text, (_, value) =>
    value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
  );
  ajv.addSchema({ $id: 'document', components: document.components });
  const compiled = new Map<object, ValidateFunction>();

  function check(schema: object, value: unknown): unknown[] {
    const validate = compiled.get(schema) ?? ajv.compile(schema);
    compiled.set(schema, validate);
    validate(value);
    return validate.errors ?? [];
  }

  /** The part itself, or what it refers to. */
  function found<T>(part: unknown): T {
    const [, pointer] = (part as { $ref?: string }).$ref?.split('#/') ?? [];
    const to = (at: object, key: string) => (at as Record<string, object>)[key] ?? {};
    return (pointer === undefined ? part : pointer.split('/').reduce(to, document)) as T;
  }

  const headerFaults = (headers: Headers, { headers: wanted = {} }: Response): unknown[] =>
    Object.entries(wanted).flatMap(([name, part]) => {
      const { required = false, schema } = found<{ required?: boolean; schema: object }>(part);
      const value = headers.get(name);
      if (value === null) return required ? [`${name} is missing`] : [];
      return check(schema, /^\d+$/.test(value) ? Number(value) : value);
    });

  const calls = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, one]),
    ),
  );
  return {
    calls,
    /** In what an answer to that call is not as the document has it. */
    faults(call: string, { status, headers, json }: Answered): unknown[] {
      const part = calls[call]?.responses[status];
      if (part === undefined) return [`${status} is not described`];
      const response = found<Response>(part);
      const type = headers.get('content-type')?.replace(/; charset=utf-8$/, '') ?? '';
      const media = response.content[type];
      if (media === undefined) return [`${type} is not described`];
      return [...headerFaults(headers, response), ...check(media.schema, json)];
    },
  };
}
