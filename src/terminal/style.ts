import type { Environment, Output } from '../context';

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
export type Paint = (style: Style, text: string) => string;

/** What a renderer knows of the stream its text goes to. */
export interface Look {
  readonly tty: boolean;
  readonly columns: number;
  readonly now: Date;
  readonly paint: Paint;
}

const plain: Paint = (_style, text) => text;

/** The look of one stream; chalk is loaded only if its text will be coloured. */
export async function lookOf(
  output: Output,
  env: Environment,
  now: Date,
  wanted: boolean,
): Promise<Look> {
  const coloured = wanted && hasColour(output, env);
  const paint = coloured ? await chalkPaint() : plain;
  return { tty: output.isTTY, columns: output.columns, now, paint };
}

/** Whether to colour is decided already, so the level is fixed; its 16 colours follow the terminal's theme. */
async function chalkPaint(): Promise<Paint> {
  const { Chalk } = await import('chalk');
  const chalk = new Chalk({ level: 1 });
  return (style, text) => chalk[style](text);
}

/** NO_COLOR (no-color.org), then FORCE_COLOR, then whether that stream is a terminal. */
function hasColour(output: Output, env: Environment): boolean {
  if (env.NO_COLOR) return false;
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  return output.isTTY && env.TERM !== 'dumb';
}
