import { randomBytes } from 'node:crypto';

/** Has the runner of GitHub Actions mask every line of a text in its log (GitHub, "Workflow commands"). */
export function maskCommands(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '');
  return [...new Set(lines)].map((line) => `::add-mask::${escaped(line)}\n`).join('');
}

/** What the runner takes back out of a command's data. */
function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/** A value of any lines for the files `GITHUB_OUTPUT` and `GITHUB_ENV`; no text can contain its delimiter. */
export function heredoc(name: string, value: string): string {
  const delimiter = `pwpush_${randomBytes(16).toString('hex')}`;
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}

/**
 * Why GitLab would not take a variable as it is from a dotenv report, or undefined: it knows no quotes, takes a
 * line for a value, and strips it.
 */
export function unfitForGitlab(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'has several lines';
  if (value.trim() !== value) return 'begins or ends with white space';
  return value === '' ? 'is empty' : undefined;
}
