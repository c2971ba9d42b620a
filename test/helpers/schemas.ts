import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Command } from '../../src/cli/command';
import { reached } from '../../src/commands/program';
import { lazy } from '../../src/contract/lazy';
import type { Context } from '../../src/platform/context';

/** What a command prints with `--json`, as docs/schemas/index.json says it. */
interface Result {
  readonly command: string;
  /** An option or argument without which the row does not apply. */
  readonly with?: string;
  /** One JSON value, or one a line. */
  readonly form: 'value' | 'lines';
  readonly schemas: readonly string[];
}

interface Printed {
  readonly argv: readonly string[];
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

const folder = join(import.meta.dirname, '..', '..', 'docs', 'schemas');
const read = (name: string) => readFileSync(join(folder, name), 'utf8');

/** Read at once: tests of faults make files fail. */
const texts = new Map(readdirSync(folder).map((name) => [name, read(name)]));

export const index: { readonly stdout: readonly Result[]; readonly stderr: readonly string[] } = JSON.parse(
  texts.get('index.json') ?? '',
);
export const schemaNames = [...texts.keys()].filter((name) => name !== 'index.json');

type Validator = (schema: string) => ValidateFunction;

/** @param strict fields that no schema declares are faults, in objects of the instance too */
function validator(strict: boolean): Validator {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  addFormats(ajv);
  for (const name of schemaNames) {
    const text = texts.get(name) ?? '';
    const closed = text.replaceAll('"unevaluatedProperties": true', '"unevaluatedProperties": false');
    ajv.addSchema(JSON.parse(strict ? closed : text));
  }
  return (schema) => {
    const validate = ajv.getSchema(schema);
    if (!validate) throw new Error(`no schema ${schema}`);
    return validate as ValidateFunction;
  };
}

export const published = lazy(() => validator(false));
const closed = lazy(() => validator(true));

const context = { version: '0.1.0', env: {} } as Context;

/** Fields of an instance that no schema declares; `any` for one that answers whatever it likes. */
export type Invented = readonly string[] | 'any';

/** What is wrong with the JSON that a command line printed; nothing if it was not to print any. */
export async function jsonFaults(
  { argv, code, stdout = '', stderr = '' }: Printed,
  invented: Invented = [],
): Promise<string[]> {
  if (!argv.includes('--json')) return [];
  const line = await reached(argv, context);
  if (!line.options.json) return [];
  const at = argv.indexOf('--');
  const options = (at === -1 ? argv : argv.slice(0, at)).filter((word) => word.startsWith('-'));
  const words = [...options, ...line.operands];
  const command = argv[0] === 'help' ? 'help' : pathOf(line.command);
  const row = index.stdout.find((one) => one.command === command && (!one.with || words.includes(one.with)));
  const helps =
    (command === 'help' && line.operands.length > 0) || words.some((word) => /^(?:-h|--help|-V|--version)$/.test(word));
  const logs = /^(?:run|serve)$/.test(command) || /--(?:debug|here|into)/.test(words.join(' '));
  const faults = (text: string, schemas: readonly string[]) => faultsOf(text, schemas, invented);
  const results = row && !helps ? valuesIn(stdout, row, code) : [];
  // The runner of GitHub takes the masks of a job's tokens out of its log.
  const lines = stderr.replace(/^::add-mask::.*\n/gm, '').split('\n');
  const said = lines.filter((text) => (logs ? text.startsWith('{') : text !== ''));
  return [
    ...results.flatMap((text) => faults(text, row?.schemas ?? [])),
    ...said.flatMap((text) => faults(text, index.stderr)),
  ];
}

function valuesIn(stdout: string, { form }: Result, code: number): string[] {
  if (stdout === '') return [];
  if (form === 'lines') return stdout.split('\n').filter((line) => line !== '');
  return code !== 0 && stdout.startsWith('[') && !stdout.endsWith(']\n') ? [] : [stdout];
}

function faultsOf(text: string, schemas: readonly string[], invented: Invented): string[] {
  const any = invented === 'any';
  let value: unknown;
  try {
    value = JSON.parse(text, (key, field) => (!any && invented.includes(key) ? undefined : field));
  } catch {
    return [`no JSON: ${text}`];
  }
  return valueFaults(value, schemas, any ? published() : closed());
}

/** In what a value is not as one of the schemas says, with nothing more. */
export function valueFaults(value: unknown, schemas: readonly string[], validators = closed()): string[] {
  const found = schemas.map((schema) => {
    const validate = validators(schema);
    return validate(value) ? [] : (validate.errors ?? []).map((error) => told(schema, error));
  });
  return found.some((faults) => faults.length === 0)
    ? []
    : [`${JSON.stringify(value)} is not as it should be:`, ...found.flat()];
}

function told(schema: string, { instancePath, message, params }: ErrorObject): string {
  return `  ${schema}: ${instancePath} ${message} ${JSON.stringify(params)}`;
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent as Command)} ${command.name()}` : command.name();
}
