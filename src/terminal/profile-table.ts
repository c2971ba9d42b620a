import type { Profile } from '../profile/profile';
import { safe } from './safe';
import type { Look } from './style';
import type { Column } from './table';
import { width } from './text-width';

/** A profile as it may be shown: the token only as a fact. */
export interface ShownProfile extends Omit<Profile, 'token'> {
  readonly name: string;
  readonly current: boolean;
  readonly token: boolean;
}

export function shownProfile(name: string, profile: Profile, current: boolean): ShownProfile {
  return { name, current, ...profile, token: profile.token !== undefined };
}

/** Columns of `profile list`; in a pipe: name, address, token (yes or no), current (yes or no). */
export const profileColumns: readonly Column<ShownProfile>[] = [
  { title: '', shown: ({ current }) => (current ? '*' : ' '), exact: () => [] },
  { title: 'NAME', shown: ({ name }) => name },
  { title: 'ADDRESS', shown: ({ url }) => url ?? '', elastic: true },
  {
    title: 'TOKEN',
    shown: ({ token }) => yesNo(token),
    exact: ({ token, current }) => [yesNo(token), yesNo(current)],
  },
];

const yesNo = (value: boolean) => (value ? 'yes' : 'no');

/** One setting a line: two columns on a terminal, `name<TAB>value` in a pipe. */
export function profileText(profile: ShownProfile, look: Look): string {
  const { name, current, url, token, ...rest } = profile;
  const rows: [string, string][] = [
    ['name', name],
    ['current', yesNo(current)],
    ['url', url ?? ''],
    ['token', yesNo(token)],
    ...Object.entries(rest).map(([key, value]): [string, string] => [key, String(value)]),
  ];
  const wide = Math.max(...rows.map(([key]) => width(safe(key))));
  const line = ([key, value]: [string, string]) => {
    const name = safe(key);
    if (!look.tty) return `${name}\t${safe(value)}`;
    return `${look.paint('bold', name)}${' '.repeat(wide - width(name))}  ${safe(value)}`.trimEnd();
  };
  return rows.map((row) => `${line(row)}\n`).join('');
}
