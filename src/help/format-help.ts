const GLOBAL = 'Global options:';

/** Help of the program, with the commands above the options. */
export function commandsFirst(text: string): string {
  const sections = text.split('\n\n');
  const commands = sections.findIndex((section) => section.startsWith('Commands:'));
  const options = sections.findIndex((section) => section.startsWith(GLOBAL));
  if (commands === -1 || options === -1) return text;
  [sections[options], sections[commands]] = [
    (sections[commands] ?? '').trimEnd(),
    sections[options] ?? '',
  ];
  return sections.join('\n\n').replace(/\n*$/, '\n');
}

/** Help of a command, with only the names of the global options, which would fill a terminal. */
export function globalsInShort(text: string, wrap: (names: string) => string): string {
  const sections = text.split('\n\n').map((section) => {
    if (!section.startsWith(GLOBAL)) return section;
    const names = [...section.matchAll(/^ {2}(?:(-\w), )?(--[\w-]+)/gm)].map(([, short, long]) =>
      short === undefined ? long : `${short}/${long}`,
    );
    const lines = wrap(names.join(', ')).replaceAll(/^/gm, '  ');
    const end = section.endsWith('\n') ? '\n' : '';
    return `Global options, explained by pwpush --help:\n${lines}${end}`;
  });
  return sections.join('\n\n');
}
