import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Choice, Prompter } from '../../src/platform/context';
import { BASE, type Instance, instance } from './instance';
import type { Conditions, Outcome } from './run';

// A transcript is a text that tells what a person types, sees and gets. Its lines, by how they begin:
//
//     #            a comment
//     service      settings of the service, as JSON; the first line that is no comment
//     file NAME    a file that is there, with its content in the lines after it that begin with =
//     later        moves the clock: `later 3 days`
//     $            a command, with pipes on all streams, after variables such as PWPUSH_KEY=x
//     tty$         the same, on a terminal
//     <            a line that is piped in
//     ?            a question at the terminal and what is typed: `? Passphrase: => hunter2`
//     > and !      a line of stdout and of stderr
//     exit         the exit code, unless it is 0
//     + NAME MODE  a file that is new or has changed, with its content in the lines after it that begin with =
//
// A line that ends in \ has no line end. [...] in an output stands for anything. DIR is the folder of the run, ADMIN and
// BOB are API tokens; IDs of pushes, keys and management tokens are numbered: ID1, KEY1, TOKEN1.

interface Command {
  readonly line: string;
  readonly tty: boolean;
  /** Lines of input, as they stand in the transcript. */
  readonly input: readonly string[];
  readonly prompts: readonly string[];
  /** Lines of the outcome, as they stand in the transcript. */
  readonly expected: readonly string[];
}

/** A line that is kept as it is, or a command with what follows it. */
type Step = string | Command;

const INPUT = /^<( |$)/;
const OUTCOME = /^([>!=](?= |$)|\+ |exit )/;

export function parseTranscript(text: string): Step[] {
  const steps: Step[] = [];
  const lines = text.split('\n');
  const taken = (of: RegExp) => {
    const from = lines.findIndex((line) => !of.test(line));
    return lines.splice(0, from < 0 ? lines.length : from);
  };
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const [, tty, command] = /^(tty)?\$ (.*)$/.exec(line) ?? [];
    if (command === undefined) steps.push(line);
    else {
      const [input, prompts] = [taken(INPUT), taken(/^\? /)];
      const expected = taken(OUTCOME);
      steps.push({ line: command, tty: tty !== undefined, input, prompts, expected });
    }
  }
  return steps;
}

/** Runs a command: in process, or as a process. */
export type Runner = (words: string[], conditions: Conditions) => Promise<Outcome>;

/** Where a transcript is run. */
export interface Stage {
  readonly folder: string;
  readonly base: string;
  readonly env: Readonly<Record<string, string>>;
  readonly tokens: Readonly<Record<string, string>>;
  readonly run: Runner;
  later?(milliseconds: number): void;
}

/** Runs a transcript against the embedded service, and returns it with what has happened. */
export async function playInProcess(text: string): Promise<string> {
  const settings = /^service (\{.*\})$/m.exec(text)?.[1];
  const here: Instance = await instance(settings ? { settings: JSON.parse(settings) } : {});
  try {
    return await play(text, {
      folder: here.folder,
      base: BASE,
      env: {},
      tokens: { ADMIN: here.service.adminToken, BOB: here.service.otherToken },
      run: (words, conditions) => here.under(conditions).run(...words),
      later: here.service.clock.advance,
    });
  } finally {
    await here.close();
  }
}

/** Runs a transcript on a stage, and returns it with what has happened in place of what was expected. */
export async function play(text: string, stage: Stage): Promise<string> {
  const names = numbered(stage);
  const told: string[] = [];
  const steps = parseTranscript(text);
  for (const [at, step] of steps.entries()) {
    if (typeof step === 'string') {
      told.push(step);
      prepare(step, steps.slice(at + 1), stage, names);
      continue;
    }
    const { line, tty, input, prompts, expected } = step;
    const { env, words } = shellWords(names.real(line));
    const typing = answering(prompts.map((one) => names.real(one)));
    const before = filesIn(stage.folder);
    const outcome = await stage.run(words, {
      env: { ...stage.env, ...env },
      stdin: names.real(contentOf(input)),
      ...(tty && { terminals: ['stdin', 'stdout', 'stderr'], prompter: typing.prompter }),
    });
    const found = [
      ...typing.told.map(names.shown),
      ...linesOf('>', names.shown(outcome.stdout)),
      ...linesOf('!', names.shown(outcome.stderr)),
      ...(outcome.code === 0 ? [] : [`exit ${outcome.code}`]),
      ...changes(before, filesIn(stage.folder), names.shown),
    ];
    told.push(`${tty ? 'tty$' : '$'} ${line}`, ...input, ...kept([...prompts, ...expected], found));
  }
  return told.join('\n');
}

/** Expected lines with [...] stay as they are where the lines found match them. */
function kept(expected: readonly string[], found: readonly string[]): readonly string[] {
  return found.map((line, at) => {
    const pattern = expected[at];
    if (!pattern?.includes('[...]')) return line;
    const parts = pattern.split('[...]').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${parts.join('.+')}$`).test(line) ? pattern : line;
  });
}

const MILLISECONDS = { seconds: 1000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

function prepare(line: string, following: readonly Step[], stage: Stage, names: Names): void {
  const [, name] = /^file (\S+)$/.exec(line) ?? [];
  if (name !== undefined) {
    const end = following.findIndex((one) => typeof one !== 'string' || !one.startsWith('='));
    const content = following.slice(0, end < 0 ? undefined : end) as string[];
    mkdirSync(dirname(join(stage.folder, name)), { recursive: true });
    writeFileSync(join(stage.folder, name), names.real(contentOf(content)));
  }
  const [, many, unit = ''] = /^later (\d+) (\w+?)s?$/.exec(line) ?? [];
  if (many === undefined) return;
  const each = MILLISECONDS[`${unit}s` as keyof typeof MILLISECONDS];
  if (!stage.later || each === undefined) throw new Error(`not possible here: ${line}`);
  stage.later(Number(many) * each);
}

/** The text of lines behind a mark of one character. */
function contentOf(lines: readonly string[]): string {
  return lines
    .map((line) => line.slice(2))
    .map((line) => (line.endsWith('\\') ? line.slice(0, -1) : `${line}\n`))
    .join('');
}

/** The reverse of `contentOf`. */
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

/** Splits a line as a shell does: variables, then `pwpush`, then its words. */
function shellWords(line: string): { env: Record<string, string>; words: string[] } {
  const words = [...line.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(
      /'([^']*)'|"([^"]*)"|\\(.)/g,
      (_, single, double, bare) => single ?? double ?? bare,
    ),
  );
  const at = words.indexOf('pwpush');
  if (at < 0) throw new Error(`not a command of pwpush: ${line}`);
  const env = words.slice(0, at).map((word) => /^(\w+)=(.*)$/s.exec(word)?.slice(1, 3) ?? []);
  return { env: Object.fromEntries(env), words: words.slice(at + 1) };
}

interface Names {
  /** A text of the transcript, as it is in this run. */
  real(text: string): string;
  /** A text of this run, as it is in the transcript. */
  shown(text: string): string;
}

/** What differs from run to run, and its names. */
const RANDOM: readonly (readonly [name: string, RegExp])[] = [
  ['ID', /(?<=\/[pfr]\/|"url_token": ?")[\w-]{10,}/g],
  ['KEY', /(?<=#)[\w-]{22}(?![\w-])/g],
  ['PUBLIC', /(?<=#)age1[a-z\d]+/g],
  ['TOKEN', /pwm_[\w-]{43}/g],
];

function numbered({ folder, base, tokens }: Stage): Names {
  const names = new Map([
    [folder, 'DIR'],
    ...(base === BASE ? [] : [[base, BASE] as const]),
    ...Object.entries(tokens).map(([name, token]) => [token, name] as const),
  ]);
  const counts = new Map<string, number>();
  const replaced = (text: string, pairs: (readonly [string, string])[]) =>
    pairs.reduce((result, [from, to]) => result.replaceAll(from, to), text);
  return {
    real: (text) =>
      replaced(text, [...names].map(([real, name]) => [name, real] as const).reverse()),
    shown: (text) => {
      for (const [name, pattern] of RANDOM)
        for (const [found] of text.matchAll(pattern)) {
          if (names.has(found)) continue;
          counts.set(name, (counts.get(name) ?? 0) + 1);
          names.set(found, `${name}${counts.get(name)}`);
        }
      return replaced(text, [...names]);
    },
  };
}

/** Files by name, with their modes and contents; not those that the program keeps for itself. */
function filesIn(folder: string): Map<string, string> {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = all
    .filter((name) => !/^(config|state\/receipts|home)/.test(name))
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
  const changed = [...after].filter(([name, content]) => before.get(name) !== content);
  return changed.flatMap(([name, content]) => {
    const end = content.indexOf('\n');
    return [
      `+ ${shown(name)} ${content.slice(0, end)}`,
      ...linesOf('=', shown(content.slice(end + 1))),
    ];
  });
}
