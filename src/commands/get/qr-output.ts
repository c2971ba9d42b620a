import type { Context } from '../../context';
import type { Push } from '../../contract';
import type { GlobalOptions } from '../../options';
import type { Terminal } from '../../terminal/output';
import { lookOf } from '../../terminal/style';

/** The text as a drawing for standard output, and itself for the case that it is lost; nothing where it cannot be drawn. */
export async function drawn(
  context: Context,
  { color }: GlobalOptions,
  { payload }: Push,
  say: Terminal,
): Promise<{ readonly bytes?: string; readonly saved?: string }> {
  const { qrCode } = await import('../../terminal/qr');
  const text = payload ?? '';
  const look = await lookOf(context.stdout, context.env, context.now(), color);
  const code = qrCode(text, look);
  if ('drawing' in code) return { bytes: code.drawing, saved: text };
  await say.warn(code.problem);
  return {};
}
