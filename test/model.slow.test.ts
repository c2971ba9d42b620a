import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { long, onlyLong, partOf } from './helpers/long';
import { folders, scratch } from './helpers/memory';
import { needsPrograms } from './helpers/needs';

const run = promisify(execFile);
const newFolder = folders(scratch);
const models = join(__dirname, 'model');

interface Search {
  /** Whether responses are looked for, too. */
  readonly live?: boolean;
  /** Whether it is soon over: optimizing would take longer. */
  readonly short?: boolean;
}

/** What SPIN says of a model after all of its states, or after the first that must not be. */
async function search(
  file: string,
  defined: readonly string[],
  { live = false, short = false }: Search = {},
): Promise<string> {
  const cwd = await newFolder();
  const define = defined.map((one) => `-D${one}`);
  await run('spin', [...define, ...(live ? ['-DCALMS'] : []), '-a', join(models, file)], { cwd });
  const options = [short ? '-O0' : '-O2', '-DMEMLIM=2000', live ? '-DNFAIR=3' : '-DSAFETY'];
  await run('cc', [...options, '-o', 'pan', 'pan.c'], { cwd });
  const { stdout } = await run('./pan', ['-m100000', ...(live ? ['-a', '-f'] : [])], { cwd });
  return stdout;
}

/** The figures of a search that found nothing and left nothing out. */
function figuresOf(stdout: string): string {
  expect(stdout).toMatch(/errors: 0$/m);
  expect(stdout).not.toMatch(/max search depth|not completed|memory bound/);
  const [, states] = /^\s*(\S+) states, stored/m.exec(stdout) ?? [];
  const [, memory] = /(\S+)\ttotal actual memory usage/.exec(stdout) ?? [];
  return `${Number(states)} states, ${Math.ceil(Number(memory))} MB`;
}

/** Statements that no search has come to, but for the ends of what does not end. */
const unreached = (stdout: string) =>
  (stdout.match(/^\t\S+:\d+, state .*$/gm) ?? []).filter((line) => !line.endsWith('"-end-"'));

// What is written to standard output is seen in a run of CI.
describe('the model of a claim (needs spin and cc)', needsPrograms('spin', 'cc'), () => {
  // Of one view, a long run sees the same where it looks for responses.
  test.each(long ? [2] : [1])(
    'no view has two readers, none is lost, and a repeat is the same: %i views',
    async (views) => {
      const found = await search('claim.pml', [`VIEWS=${views}`]);
      const figures = figuresOf(found);
      if (views > 1) expect(unreached(found)).toEqual([]);
      console.log(`claim.pml, ${views} views: ${figures}`);
    },
  );

  test('once nothing fails, each reader gets a response', onlyLong, async () => {
    const figures = figuresOf(await search('claim.pml', ['VIEWS=1'], { live: true }));
    console.log(`claim.pml, responses: ${figures}`);
  });

  const planted = [
    ['PLANTED_ANSWER_FIRST', /shown/],
    ['PLANTED_NOT_KEPT', /kept/],
    ['PLANTED_SWEPT_EARLY', /kept/],
    ['PLANTED_TEXT_EARLY', /text/],
    ['PLANTED_EXPIRED_FIRST', /answer==view/],
    ['PLANTED_NOT_ANEW', /answer!=0/],
  ] as const;
  test.each([
    ['claim-in-two.pml', [], /shown/] as const,
    ...partOf(planted, 0).map(([name, property]) => ['claim.pml', [name], property] as const),
  ])('what is planted is found: %s %j', async (file, defined, property) => {
    const found = await search(file, ['VIEWS=1', ...defined], { short: true });
    expect(found).toMatch(/errors: 1$/m);
    expect(/assertion violated (.*)/.exec(found)?.[1]).toMatch(property);
  });

  test('so is a lock that outlives its process', onlyLong, async () => {
    const found = await search('claim.pml', ['VIEWS=1', 'PLANTED_LOCK_STAYS'], { live: true, short: true });
    expect(found).toMatch(/acceptance cycle/);
    expect(found).toMatch(/errors: 1$/m);
  });
});
