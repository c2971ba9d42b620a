import { checkOptions } from '../cli/check-options';
import type { Command } from '../cli/command';
import { declare, type Elsewhere, type Rows } from '../cli/declare';
import { addGlobalOptions, type Closed, lineRows, type Options, optionsOf } from '../cli/options';
import type { Context } from '../platform/context';
import type { Session } from '../profile/session';

/** A command: what it takes, the plan that is made of it, and the journey that follows the plan. */
export interface Planned<R, Operands extends readonly unknown[], Plan> {
  readonly rows: R;
  /**
   * Checks and decides everything about options, and merges the defaults of the profile; starts nothing.
   * @throws CliError (usage)
   */
  asked(options: Options<R>, session: Session, ...operands: Operands): Plan | Promise<Plan>;
  /** Loads the journey of a plan: printing the help does without. */
  journey(plan: Plan): Promise<{ run(session: Session, plan: Plan): Promise<void> }>;
  /** Declares the global options that it has; all, unless it says otherwise. */
  readonly globals?: (command: Command) => Command;
  /** Has the value of an option that was not typed. */
  readonly elsewhere?: Elsewhere;
  /** What reads standard input although no option says so, such as "the secret". */
  unnamedInput?(options: Options<R>, context: Context, ...operands: Operands): string | undefined;
}

/** What becomes of a plan: the journey, or a test that looks at the plan. */
export type Perform = <Plan>(
  session: Session,
  plan: Plan,
  journey: Planned<never, never, Plan>['journey'],
) => Promise<void>;

const performed: Perform = async (session, plan, journey) =>
  (await journey(plan)).run(session, plan);

/** Declares the options of a command, and has it make its plan and perform it. */
export function planned<R extends Rows & Closed<R>, Operands extends readonly unknown[], Plan>(
  command: Command,
  context: Context,
  { rows, journey, globals = addGlobalOptions, ...made }: Planned<R, Operands, Plan>,
  perform: Perform = performed,
): void {
  globals(declare(command, rows)).action(async (...operands: Operands) => {
    const options = optionsOf(command, context.env, rows, made.elsewhere);
    checkOptions(lineRows(rows), options, made.unnamedInput?.(options, context, ...operands));
    const { createSession } = await import('../profile/session');
    const session = createSession(context, options, options);
    await perform(session, await made.asked(options, session, ...operands), journey);
  });
}
