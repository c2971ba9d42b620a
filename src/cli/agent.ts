import type { Environment } from '../platform/context';
import { isOn } from './options';

/** Variables that coding agents set for the programs that they run. What these print becomes part of a transcript. */
export const MARKERS = [
  'AI_AGENT',
  'AGENT',
  'CLAUDECODE',
  'CODEX_THREAD_ID',
  'CURSOR_AGENT',
  'GEMINI_CLI',
  'COPILOT_CLI',
  'OPENCODE',
  'QWEN_CODE',
  'CLINE_ACTIVE',
  'AUGMENT_AGENT',
] as const;

/** The variable by which an agent is known to run us; undefined without one. */
export function agentMarker(env: Environment): string | undefined {
  return MARKERS.find((name) => isOn(env[name]));
}
