import type { Context, Environment } from '../../platform/context';
import { CliError } from '../../platform/errors';
import { isCi, isOn } from '../options';
import type { Invocation } from './output';

const BELL = '\u0007';
const osc = (text: string) => `\u001b]${text}\u001b\\`;

/** How each terminal shows a notification, by its variables; others ring. Within tmux and screen, only a bell arrives. */
function notification({ env }: Pick<Context, 'env'>, text: string): string {
  const { TERM = '', TERM_PROGRAM = '' } = env;
  if (isMultiplexed(env)) return BELL;
  if (TERM === 'xterm-kitty') return osc(`99;;${text}`);
  if (['iTerm.app', 'WezTerm', 'ghostty'].includes(TERM_PROGRAM)) return osc(`9;${text}`);
  if (/^(foot|rxvt-unicode)/.test(TERM)) return osc(`777;notify;pwpush;${text}`);
  return BELL;
}

const isMultiplexed = ({ TERM = '', TMUX, STY }: Environment) =>
  TMUX !== undefined || STY !== undefined || /^(tmux|screen)/.test(TERM);

/** Whether the terminal shows progress by OSC 9;4. Older versions of some take it for a notification. */
export function showsProgress(env: Environment): boolean {
  if (isMultiplexed(env)) return false;
  const { TERM_PROGRAM, TERM_PROGRAM_VERSION: version = '', VTE_VERSION } = env;
  if (env.WT_SESSION || env.ConEmuANSI === 'ON' || Number(VTE_VERSION) >= 7900) return true;
  if (TERM_PROGRAM === 'ghostty') return isSince([1, 2], version);
  return TERM_PROGRAM === 'iTerm.app' && isSince([3, 6, 6], version);
}

function isSince(least: readonly number[], version: string): boolean {
  const parts = version.split('.').map(Number);
  const at = least.findIndex((part, place) => part !== (parts[place] ?? 0));
  return at === -1 || (parts[at] ?? 0) > (least[at] ?? 0);
}

/** Shows progress beside the window or tab: a share of 1, or that there is some; undefined removes it. */
export function taskbar(share: number | undefined | 'unknown'): string {
  if (share === undefined) return osc('9;4;0');
  return share === 'unknown'
    ? osc('9;4;3')
    : osc(`9;4;1;${Math.min(100, Math.floor(share * 100))}`);
}

/**
 * Does what someone waits for and, at a terminal, notifies them of its end: in fixed words, without names, links and values.
 * @param done what happened
 */
export async function notifying<T>(
  run: Pick<Invocation, 'context' | 'options'>,
  done: (result: T) => string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    await notify(run, done(result));
    return result;
  } catch (error) {
    const text = error instanceof CliError ? ENDS[error.code] : undefined;
    if (text !== undefined) await notify(run, text);
    throw error;
  }
}

/** Of errors that are known at once, and of interrupts, nobody need be told. */
const ENDS: Readonly<Partial<Record<CliError['code'], string>>> = {
  expired: 'it has expired',
  timeout: 'the time limit ran out',
  unreachable: 'waiting failed',
  failed: 'waiting failed',
};

async function notify(
  { context, options: { quiet, json } }: Pick<Invocation, 'context' | 'options'>,
  text: string,
): Promise<void> {
  const { env, stderr } = context;
  const off = quiet || json || isCi(env) || env.TERM === 'dumb' || !isOn(env.PWPUSH_NOTIFY ?? '1');
  if (stderr.isTTY && !off)
    await stderr.write(notification(context, `pwpush: ${text}`)).catch(() => {});
}
