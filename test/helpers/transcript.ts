import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Choice, Prompter } from '../../src/platform/context';
import { BASE, type Instance, instance, overFetch } from './instance';
import type { Conditions, Outcome } from './run';
import { broken, type Literal, wire } from './wire';

// test/cases/README.md says what a line of a transcript is.

interface Command {
  readonly line: string;
  readonly tty: boolean;
  /** The command as its row has it, of one in a table. */
  readonly row?: string;
  readonly input: readonly string[];
  readonly prompts: readonly string[];
  readonly expected: readonly string[];
}

/** A line that is kept as it is, or a command with what follows it. */
type Step = string | Command;

const INPUT = /^<( |$)/;
const OUTCOME = /^([>!=](?= |$)|[-+] |exit )/;
const CONTENT = /^=( |$)/;
/** A row of a table of failures: the exit code, a command, its message and its hint. */
const ROW = /^\| (\d+) \| (.+?) \| (.+?)(?: \| (.+))?$/;
const FAILED = /^! pwpush: (.+?)(?:\n! hint: (.+))?\nexit (\d+)$/;

function rowCommand([, code, row = '', message, hint]: RegExpExecArray): Command {
  const expected = [`! pwpush: ${message}`, ...(hint ? [`! hint: ${hint}`] : []), `exit ${code}`];
  return { line: row, row, tty: false, input: [], prompts: [], expected };
}

/** The row of a command that failed without a word more. */
function rowOf(row: string | undefined, outcome: readonly string[]): string | undefined {
  const [, message, hint, code] = FAILED.exec(outcome.join('\n')) ?? [];
  return row && code && `| ${[code, row, message, ...(hint ? [hint] : [])].join(' | ')}`;
}

function parseTranscript(text: string): Step[] {
  const steps: Step[] = [];
  const lines = text.split('\n');
  const taken = (of: RegExp) => {
    const from = lines.findIndex((line) => !of.test(line));
    return lines.splice(0, from < 0 ? lines.length : from);
  };
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [, tty, command] = /^(tty)?\$ (.*)$/.exec(line) ?? [];
    const row = ROW.exec(line);
    if (row) steps.push(rowCommand(row));
    else if (command === undefined) steps.push(line);
    else {
      const [input, prompts] = [taken(INPUT), taken(/^\? /)];
      const expected = taken(OUTCOME);
      steps.push({ line: command, tty: tty !== undefined, input, prompts, expected });
    }
  }
  return steps;
}

interface Started {
  readonly first: Promise<string>;
  readonly ended: Promise<Outcome>;
  stop(): void;
}

interface Stage {
  readonly folder: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tokens: Readonly<Record<string, string>>;
  run(words: string[], conditions: Conditions): Promise<Outcome>;
  start?(words: string[], conditions: Conditions, stream: Stream): Started;
  later?(milliseconds: number): void;
  /** Puts a response in place of the service's to the next request. */
  respond?(response: Response): void;
  sent?(): string[];
}

type Stream = 'stdout' | 'stderr';
type Background = Started & { readonly stream: Stream };
type Response = Literal | ReturnType<typeof broken>;

/** Runs a transcript against the embedded service, and returns it with what has happened. */
export async function playInProcess(text: string): Promise<string> {
  const settings = /^service (\{.*\})$/m.exec(text)?.[1];
  const responses: Response[] = [];
  const sent: string[] = [];
  const here: Instance = await instance({
    ...(settings && { settings: JSON.parse(settings) }),
    send: (request) => {
      const token = 'authorization' in request.headers ? ' with the token' : '';
      sent.push(`${request.method} ${request.url.replace(BASE, '')}${token}`);
      const response = responses.shift();
      return (response ? wire([response]).send : overFetch(here.service))(request);
    },
  });
  const from = process.cwd();
  process.chdir(here.folder);
  try {
    const told = await play(text, {
      folder: here.folder,
      base: BASE,
      env: { PATH: process.env.PATH ?? '' },
      tokens: { ADMIN: here.service.adminToken, BOB: here.service.otherToken },
      run: (words, conditions) => here.under(conditions).run(...words),
      later: here.service.clock.advance,
      respond: (response) => responses.push(response),
      sent: () => sent.splice(0),
    });
    if (responses.length > 0) throw new Error(`${responses.length} responses were left over`);
    return told;
  } finally {
    process.chdir(from);
    await here.close();
  }
}

/** Runs a transcript on a stage, and returns it with what has happened in place of what was expected. */
export async function play(text: string, stage: Stage): Promise<string> {
  const names = numbered(stage);
  const told: string[] = [];
  const steps = parseTranscript(text);
  const background: Background[] = [];
  for (const [at, step] of steps.entries()) {
    if (typeof step === 'string') {
      told.push(prepare(step, steps.slice(at + 1), stage, names));
      continue;
    }
    const { line, tty, input, prompts, expected } = step;
    const typing = answering(prompts.map((one) => names.real(one)));
    const before = filesIn(stage.folder);
    const outcome = await outcomeOf(step, typing.prompter, stage, names, background);
    const found = [
      ...typing.told.map(names.shown),
      ...linesOf('>', names.shown(outcome.stdout)),
      ...linesOf('!', names.shown(outcome.stderr)),
      ...(outcome.code === 0 ? [] : [`exit ${outcome.code}`]),
      ...changes(before, filesIn(stage.folder), names.shown),
    ];
    const lines = kept([...prompts, ...expected], found);
    const row = rowOf(step.row, lines);
    told.push(...(row ? [row] : [`${tty ? 'tty$' : '$'} ${line}`, ...input, ...lines]));
  }
  return told.join('\n');
}

/** The outcome of a command; of one that goes on, its first line. */
async function outcomeOf(
  { line, tty, input, expected }: Command,
  prompter: Prompter,
  stage: Stage,
  names: Names,
  background: Background[],
): Promise<Outcome> {
  if (line === 'wait' || line === 'kill') {
    const [started] = background.splice(0, 1);
    if (!started) throw new Error(`nothing to ${line} for`);
    if (line === 'kill') started.stop();
    const [first, ended] = await Promise.all([started.first, started.ended]);
    return { ...ended, [started.stream]: ended[started.stream].slice(first.length + 1) };
  }
  const [command = '', typed] = line.split(' <<< ');
  const given = typed === undefined ? input : [`< ${typed}`];
  const { env, words, piped, redirections } = shellWords(names.real(command));
  const terminals = (['stdin', 'stdout', 'stderr'] as const).filter(
    (one) => !(one === 'stdin' && given.length > 0) && !(one === 'stdout' && piped),
  );
  const conditions: Conditions = {
    env: { ...stage.env, ...env },
    stdin: names.real(contentOf(given)),
    ...(tty && { terminals, prompter, columns: Number(env.COLUMNS ?? 80) }),
    ...(env.LINES && { rows: Number(env.LINES) }),
    ...redirections,
  };
  if (words.at(-1) !== '&') return stage.run(words, conditions);
  const stream = expected[0]?.startsWith('!') ? 'stderr' : 'stdout';
  const started = stage.start?.(words.slice(0, -1), conditions, stream);
  if (!started) throw new Error(`not possible here: ${line}`);
  background.push({ ...started, stream });
  return { code: 0, stdout: '', stderr: '', [stream]: `${await started.first}\n` };
}

/** Expected lines with [...] or ⋮ stay as they are where the lines found match them. */
function kept(expected: readonly string[], found: readonly string[]): readonly string[] {
  const told: string[] = [];
  for (let at = 0; at < found.length; at++) {
    const [pattern = '', next = ''] = expected.slice(told.length);
    const isKept = fits(found[at], pattern);
    told.push(isKept ? pattern : (found[at] as string));
    if (isKept && ANY_LINES.test(pattern)) while (fits(found[at + 1], pattern) && !fits(found[at + 1], next)) at++;
  }
  return told;
}

const ANY_LINES = /^[>!=] ⋮$/;

function fits(line: string | undefined, pattern: string): boolean {
  if (line === undefined) return false;
  if (ANY_LINES.test(pattern)) return line.startsWith(pattern.charAt(0));
  const parts = pattern.split('[...]').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.+')}$`).test(line);
}

const MILLISECONDS = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

/** Does what a line says, and returns it with what has happened. */
function prepare(line: string, following: readonly Step[], stage: Stage, names: Names): string {
  const impossible = () => new Error(`not possible here: ${line}`);
  const end = following.findIndex((one) => typeof one !== 'string' || !CONTENT.test(one));
  const content = () => names.real(contentOf(following.slice(0, end < 0 ? undefined : end) as string[]));
  const [word, ...rest] = line.split(' ');
  if (word === 'file') {
    const [name = '', mode = '644'] = rest;
    mkdirSync(dirname(join(stage.folder, name)), { recursive: true });
    writeFileSync(join(stage.folder, name), content(), { mode: Number.parseInt(mode, 8) });
  } else if (word === 'response') {
    if (!stage.respond) throw impossible();
    stage.respond(responseOf(rest, content()));
  } else if (word === 'sent') {
    if (!stage.sent) throw impossible();
    return names.shown(`sent ${stage.sent().join(', ') || 'nothing'}`);
  } else if (word === 'later') {
    const [many, unit = ''] = rest;
    const each = MILLISECONDS[`${unit.replace(/s$/, '')}s` as keyof typeof MILLISECONDS];
    if (!stage.later || each === undefined) throw impossible();
    stage.later(Number(many) * each);
  }
  return line;
}

function responseOf([status, name = '', ...value]: readonly string[], body: string): Response {
  if (status === 'lost' || status === 'refused') return broken(status === 'lost');
  const type = /^[[{]/.test(body) ? 'application/json' : 'text/html';
  const header = name ? { [name.slice(0, -1).toLowerCase()]: value.join(' ') } : {};
  return { status: Number(status), headers: { 'content-type': type, ...header }, body };
}

/** The text of lines behind a mark of one character. */
function contentOf(lines: readonly string[]): string {
  return lines
    .map((line) => line.slice(2))
    .map((line) => (line.endsWith('\\') ? line.slice(0, -1) : `${line}\n`))
    .join('');
}

function linesOf(mark: string, text: string): string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const last = lines.pop();
  const whole = last === '' ? lines : [...lines, `${last}\\`];
  return whole.map((line) => `${mark} ${line}`.trimEnd());
}

/** Types the answers of a transcript, one a question; `told` has the questions that were asked. */
function answering(lines: readonly string[]) {
  const answers = lines.map((line) => /=> (.*)$/.exec(line)?.[1] ?? '');
  const told: string[] = [];
  const asked = (question: string): string => {
    const answer = answers[told.length];
    told.push(`? ${question} => ${answer ?? ''}`.trimEnd());
    if (answer === undefined) throw new Error(`nobody answers "${question}"`);
    return answer;
  };
  const prompter: Prompter = {
    secret: async (question) => asked(question),
    text: async (question, preset) => asked(preset ? `${question} [${preset}]` : question),
    confirm: async (question, preset) => asked(`${question} [${preset ? 'Y/n' : 'y/N'}]`) === 'y',
    choose: async <T extends string>(question: string, choices: readonly Choice<T>[]) =>
      asked(`${question} [${choices.map(({ value }) => value).join(', ')}]`) as T,
  };
  return { prompter, told };
}

const REDIRECTION = /^([12]?)>(\/dev\/full|&-)$/;

/** Splits a line as a shell does: variables, then `pwpush`, then its words and redirections. */
function shellWords(line: string) {
  const all = [...line.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, bare) => single ?? double ?? bare),
  );
  const at = all.indexOf('pwpush');
  if (at < 0) throw new Error(`not a command of pwpush: ${line}`);
  const env = all.slice(0, at).map((word) => /^(\w+)=(.*)$/s.exec(word)?.slice(1, 3) ?? []);
  const pipe = all.at(-2) === '|' ? all.splice(-2)[1] : undefined;
  const failing: Conditions['failing'] = pipe === 'true' ? { stdout: 'EPIPE' } : {};
  const closed: ('stdout' | 'stderr')[] = [];
  const words = all.slice(at + 1).filter((word) => {
    const [redirection, number, target] = REDIRECTION.exec(word) ?? [];
    const stream = number === '2' ? 'stderr' : 'stdout';
    if (target === '&-') closed.push(stream);
    else if (redirection) Object.assign(failing, { [stream]: 'ENOSPC' });
    return redirection === undefined;
  });
  const piped = pipe !== undefined;
  return { env: Object.fromEntries(env), words, piped, redirections: { failing, closed } };
}

interface Names {
  real(text: string): string;
  shown(text: string): string;
}

/** What differs from run to run, and its names. */
const RANDOM: readonly (readonly [name: string, RegExp])[] = [
  ['HOST', /(?<=http:\/\/)127\.0\.0\.1:\d+/g],
  // Not in armor, where /p/ may come about as well.
  ['ID', /(?<=:\/\/[^\s"]*\/[pfr]\/|"url_token": ?")[\w-]{10,}/g],
  // Of tokens of a service.
  ['ID', /(?<=^|"id":")[\da-f]{8}(?=[\t"]| {2})/gm],
  ['ID', /(?<= key |"id":")[\da-f]{32}(?=[ "])/g],
  ['KEY', /(?<=#)[\w-]{22}(?![\w-])/g],
  ['PUBLIC', /age1[a-z\d]{58}/g],
  ['SECRET', /AGE-SECRET-KEY-1[A-Z\d]+/g],
  ['TOKEN', /pw[mp]_[\w-]{43}/g],
  ['ARMOR', /-----BEGIN AGE ENCRYPTED FILE-----\n[^-]+-----END AGE ENCRYPTED FILE-----(?=\n)/g],
  ['RESCUED', /[a-z]+-\d{4}-\d\d-\d\dT[\d-]+Z-[\da-f]{8}/g],
  ['WORDS', /[a-z]+(?:-[a-z]+){4,}\d?(?=[\n"]| {2}\(|$)/g],
  ['DELIMITER', /pwpush_[\da-f]{32}/g],
];

function numbered({ folder, base, tokens }: Stage): Names {
  const names = new Map([
    [folder, 'DIR'],
    ...(base === BASE ? [] : [[base, BASE] as const]),
    ...Object.entries(tokens).map(([name, token]) => [token, name] as const),
  ]);
  const counts = new Map<string, number>();
  return {
    // In one pass: a random text may hold the name of another.
    real: (text) => {
      const reals = new Map([...names].map(([real, name]) => [name, real]));
      const all = [...reals.keys()].sort((a, b) => b.length - a.length).join('|');
      const named = new RegExp(`(?<!TMP|_)(?:${all})(?!\\d)`, 'g');
      return text
        .replace(named, (name) => reals.get(name) ?? name)
        .replace(/[\u2400-\u241f]/g, (picture) => String.fromCharCode(picture.charCodeAt(0) - 0x2400));
    },
    shown: (text) => {
      for (const [name, pattern] of RANDOM)
        for (const [found] of text.matchAll(pattern)) {
          if (names.has(found) || base.endsWith(found)) continue;
          counts.set(name, (counts.get(name) ?? 0) + 1);
          names.set(found, `${name}${counts.get(name)}`);
        }
      return (
        [...names]
          .reduce((all, [real, name]) => all.replaceAll(real, name), text)
          // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
          .replace(/[\0-\x08\x0b-\x1f]/g, (control) => String.fromCharCode(control.charCodeAt(0) + 0x2400))
      );
    },
  };
}

/** Files by name, with their modes and contents; not those that the program keeps for itself. */
function filesIn(folder: string): Map<string, string> {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = all
    .filter((name) => !/^(config|data|state\/receipts|home)/.test(name))
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path) && statSync(path).isFile());
  return new Map(
    files.map((path) => {
      const mode = (statSync(path).mode & 0o777).toString(8).padStart(4, '0');
      return [relative(folder, path), `${mode}\n${readFileSync(path, 'utf8')}`];
    }),
  );
}

function changes(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
  shown: Names['shown'],
): string[] {
  const changed = [...after]
    .filter(([name, content]) => before.get(name) !== content)
    .sort(([one], [other]) => shown(one).localeCompare(shown(other)));
  const told = changed.flatMap(([name, content]) => {
    const end = content.indexOf('\n');
    return [`+ ${shown(name)} ${content.slice(0, end)}`, ...linesOf('=', shown(content.slice(end + 1)))];
  });
  const gone = [...before.keys()].filter((name) => !after.has(name));
  return [...told, ...gone.map((name) => `- ${shown(name)}`)];
}
