import { type Arm, type Place, takingArms } from './tree';

/** A text as one word of bash and zsh. */
export const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Arms of a `case` of bash and zsh; a leading star stays a pattern. */
export function armsOf(arms: readonly Arm[], set: string): string {
  const pattern = (text: string) =>
    text.startsWith('* ') ? `*${quoted(text.slice(1))}` : quoted(text);
  return arms
    .map(
      ({ patterns, answer }) =>
        `    ${patterns.map(pattern).join('|')}) ${set}${quoted(answer)} ;;`,
    )
    .join('\n');
}

/** The function by which bash and zsh know what belongs to an option. */
export function takesFunction(places: readonly Place[]): string {
  return `# What has to follow an option, in $want: words, paths, profiles or nothing.
_pwpush_takes() {
  want=
  case "$1 $2" in
${armsOf(takingArms(places), 'want=')}
  esac
}`;
}
