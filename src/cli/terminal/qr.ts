import { isLoopback } from '../../contract/address';
import { MAX_QR_BYTES, QUIET_ZONE, qrModules } from '../../contract/qr-matrix';
import type { Invocation, Look, Terminal } from './output';

/** A drawing that ends with a line end, or why the text cannot be drawn. */
type QrCode = { readonly drawing: string } | { readonly problem: string };

/** A text as a QR code, drawn in half blocks. */
export function qrCode(text: string, look: Look): QrCode {
  const modules = qrModules(text);
  if (!modules)
    return { problem: `the text is too long for a QR code, which holds ${MAX_QR_BYTES} bytes` };
  const size = modules.length + 2 * QUIET_ZONE;
  if (look.tty && look.columns < size)
    return { problem: `the terminal is too narrow for the QR code: it needs ${size} columns` };
  return { drawing: draw(modules, size, look) };
}

/** Two rows a line. With colour black on white, whatever the theme; without, blocks are the light modules. */
function draw(modules: boolean[][], size: number, look: Look): string {
  const dark = (row: number, column: number) =>
    modules[row - QUIET_ZONE]?.[column - QUIET_ZONE] === true;
  const coloured = look.paint('bold', 'x') !== 'x';
  const lines: string[] = [];
  for (let row = 0; row < size; row += 2) {
    let line = '';
    for (let column = 0; column < size; column++) {
      const upper = dark(row, column) === coloured;
      const lower = dark(row + 1, column) === coloured && (coloured || row + 1 < size);
      line += upper ? (lower ? '█' : '▀') : lower ? '▄' : ' ';
    }
    lines.push(coloured ? `\u001b[38;5;16;48;5;231m${line}\u001b[0m` : line);
  }
  return `${lines.join('\n')}\n`;
}

/**
 * Draws a link as `drawCode` does, and repeats the link below the code, since a terminal of 24 lines has scrolled what was
 * above. Says so if the address is a loopback one: a phone cannot reach it.
 */
export async function drawQr(say: Terminal, link: string): Promise<void> {
  if (await drawCode(say, link)) await say.remark(link);
  if (isLoopback(new URL(link).hostname))
    await say.announce('only this machine can reach that address');
}

/** Draws a link as a QR code on stderr, or says why not; returns whether it was drawn. */
async function drawCode(say: Terminal, link: string): Promise<boolean> {
  let problem: string | undefined;
  await say.draw((look) => {
    const code = qrCode(link, look);
    if ('drawing' in code) return code.drawing;
    problem = code.problem;
    return '';
  });
  if (problem !== undefined) await say.announce(problem);
  return problem === undefined;
}

/** Draws what this machine serves, for a person who watches, unless only this machine can open it. */
export async function drawServed({ context, say }: Invocation, link: string): Promise<void> {
  const { quiet, json } = say.manner;
  const watched = context.stderr.isTTY && !quiet && !json;
  if (watched && !isLoopback(new URL(link).hostname)) await drawCode(say, link);
}
