import { operand, type Rows } from '../cli/declare';
import { type Closed, type Options, profileGlobals } from '../cli/options';
import { yesNo } from '../cli/terminal/listings';
import type { Entry, Look } from '../cli/terminal/output';
import { type Listing, pairs, table } from '../cli/terminal/table';
import { isLoopback } from '../contract/address';
import type { Context } from '../platform/context';
import { usageError } from '../platform/errors';
import { readVariable } from '../platform/files/read-variable';
import { existingProfile, noSuchProfile, profileIn, storedProfiles } from '../profile/config-file';
import {
  checkProfileName,
  hasToken,
  type Profile,
  type StoredProfiles,
  settingNames,
  withSetting,
} from '../profile/settings';
import { updateProfiles } from '../profile/store';
import { forgetProfile, readFromKeyring, storeInKeyring } from '../profile/system-keyring';
import help from './help/profile.txt?raw';
import { type CommandObject, command } from './planned';

const name = operand('<name>', 'the profile; . is the one in use').names('profile');
const key = operand('<key>', `the setting: ${settingNames.join(', ')}`).names('setting');

const below = <R extends Rows & Closed<R>>(
  summary: string,
  rows: R,
  run: (entry: Entry, options: Options<R>) => Promise<void>,
) => command({ summary, rows, run, globals: profileGlobals, plan: (options) => options });

const everything = below('list the profiles', {}, list);

export default {
  ...everything,
  description: 'Manage profiles: an instance, its token, and defaults for pushes.',
  help,
  commands: {
    list: everything,
    show: below(
      'show a profile (never its token)',
      { name: operand('[name]', 'the profile (default: the one in use)').names('profile') },
      show,
    ),
    use: below('switch to a profile', { name }, use),
    set: below(
      'change a setting',
      { name, key, value: operand('<value>', 'its value').names('value') },
      change,
    ),
    unset: below('remove a setting', { name, key }, change),
    rename: below('rename a profile', { name, to: operand('<new>', 'its new name') }, rename),
    remove: { ...below('remove a profile and its token', { name }, remove), alias: 'rm' },
  },
} satisfies CommandObject;

interface NamedProfile {
  /** A dot is the profile in use. */
  readonly name?: string | undefined;
  readonly profile?: string | undefined;
}

/** @throws CliError (usage) when the profile does not exist, or none is in use */
const existing = (
  stored: StoredProfiles,
  { env }: Context,
  { name = '.', profile }: NamedProfile,
) => existingProfile(stored, env, name === '.' ? profile : name);

async function list({ context, say }: Entry): Promise<void> {
  const { profiles, current } = storedProfiles(context);
  const shown = Object.entries(profiles).map(([name, profile]) =>
    shownProfile(name, profile, current),
  );
  if (shown.length === 0 && !say.manner.json)
    return say.note('no profiles; create one with pwpush login');
  await say.print(shown, (look) => table(shown, profileList, look));
}

async function show({ context, say }: Entry, options: NamedProfile) {
  const stored = storedProfiles(context);
  const { name, profile } = existing(stored, context, options);
  const shown = shownProfile(name, profile, stored.current);
  await say.print(shown, (look) => profileText(shown, look));
}

async function use(entry: Entry, options: NamedProfile) {
  const { name, profile } = await updateProfiles(entry, (stored) => {
    const found = existing(stored, entry.context, options);
    return { ...stored, current: found.name, ...found };
  });
  await changed(entry, shownProfile(name, profile, name), `using profile "${name}"`);
}

/** Prints what changed, or with `--json` the profile. */
async function changed({ say }: Entry, profile: ShownProfile, what: string) {
  if (say.manner.json) return say.print(profile, () => '');
  await say.remark(what);
}

interface ChangedSetting extends NamedProfile {
  readonly name: string;
  readonly key: string;
  readonly value?: string;
}

/** Returns the profile whose setting is changed; a missing one begins with its first setting. */
function profileToChange(stored: StoredProfiles, context: Context, options: ChangedSetting) {
  const { name, key, value } = options;
  if (name === '.' || profileIn(stored, name)) return existing(stored, context, options);
  const isKey = (word: string) => [...settingNames, 'token'].some((setting) => setting === word);
  if (isKey(name) && !isKey(key))
    throw usageError(
      'the profile comes before the setting',
      `pwpush profile ${value === undefined ? 'unset NAME KEY' : 'set NAME KEY VALUE'}`,
    );
  if (value === undefined) throw noSuchProfile(name, stored);
  checkProfileName(name);
  return { name, profile: {} };
}

/** Sets a setting, or removes it if there is no value. The first profile becomes the current one. */
async function change(entry: Entry, options: ChangedSetting) {
  const { context, say } = entry;
  const { key, value } = options;
  const { name, before, after, ...stored } = await updateProfiles(entry, (now) => {
    const { name, profile: before } = profileToChange(now, context, options);
    const after = withSetting(before, key, value);
    const [which, isFirst] = [profileIn(now, name) ? '' : 'new ', now.current === undefined];
    const profiles = { ...now.profiles, [name]: after };
    return { current: now.current ?? name, profiles, name, before, after, which, isFirst };
  });
  const set = after[key as keyof Profile];
  const what = set === undefined ? `${key} is no longer set` : `${key} = ${set}`;
  const use = stored.isFirst ? ', which is now in use' : '';
  const shown = shownProfile(name, after, stored.current);
  await changed(entry, shown, `${stored.which}profile "${name}": ${what}${use}`);
  await forgetToken(entry, name, after.keyring ? {} : before);
  if (before.token !== undefined && after.token === undefined && hasToken(after))
    await say.note('the token that was stored in the profile was removed');
  if (key === 'url' && hasToken(before) && !hasToken(after)) await say.warn(removedText(after.url));
}

function removedText(url: string | undefined): string {
  const isOwn = url !== undefined && isLoopback(new URL(url).hostname);
  const made = isOwn ? ' (pwpush serve token add NAME makes a token)' : '';
  return `the token belonged to the old address and was removed; run pwpush login${made}`;
}

async function forgetToken({ context, say }: Entry, name: string, profile: Profile) {
  const problem = profile.keyring && (await forgetProfile(context, name, profile));
  if (problem) await say.warn(problem);
}

async function rename(entry: Entry, options: NamedProfile & { readonly to: string }) {
  const { context, say } = entry;
  const { to } = options;
  checkProfileName(to);
  const before = storedProfiles(context);
  const { name, profile } = existing(before, context, options);
  const renamed = (stored: StoredProfiles) => {
    existing(stored, context, { name });
    if (profileIn(stored, to))
      throw usageError(`profile "${to}" exists already`, 'choose another name, or remove it');
    const all = Object.entries(stored.profiles).map(([one, own]) => [one === name ? to : one, own]);
    const current = stored.current === name && { current: to };
    return { ...stored, ...current, profiles: Object.fromEntries(all) };
  };
  renamed(before);
  const { url = '', keyring } = profile;
  // The keyring has the token by both names until the config file has the new one.
  if (keyring) {
    const token = await readFromKeyring(context, { profile: name, url });
    await storeInKeyring(context, { profile: to, url }, token);
  }
  const { current } = await updateProfiles(entry, renamed);
  await forgetToken(entry, name, profile);
  await changed(entry, shownProfile(to, profile, current), `profile "${name}" is "${to}" now`);
  if (readVariable(context.env, 'PWPUSH_PROFILE') === name)
    await say.warn(`PWPUSH_PROFILE still names "${name}"`);
}

async function remove(entry: Entry, options: NamedProfile) {
  const { name, removed } = await updateProfiles(entry, (stored) => {
    const { name, profile: removed } = existing(stored, entry.context, options);
    const { [name]: _removed, ...profiles } = stored.profiles;
    // No other profile becomes current: pushes would silently go to another instance.
    const { current = name } = stored;
    return { ...(current === name ? {} : { current }), profiles, name, removed };
  });
  await forgetToken(entry, name, removed);
  await changed(entry, shownProfile(name, removed, undefined), `removed profile "${name}"`);
}

/** The token itself is never shown: `token` says whether there is one. */
interface ShownProfile extends Omit<Profile, 'token'> {
  readonly profile: string;
  readonly current: boolean;
  readonly token: boolean;
}

function shownProfile(name: string, profile: Profile, current: string | undefined): ShownProfile {
  return { profile: name, current: name === current, ...profile, token: hasToken(profile) };
}

/** In a pipe, each line has name, address, token (yes or no), current (yes or no). */
const profileList: Listing<ShownProfile> = {
  columns: [
    { title: '', shown: ({ current }) => (current ? '*' : ' ') },
    { title: 'NAME', shown: ({ profile }) => profile },
    { title: 'ADDRESS', shown: ({ url }) => url ?? '', elastic: 20 },
    { title: 'TOKEN', shown: ({ token }) => yesNo(token) },
  ],
  optional: ['TOKEN'],
  fields: ({ profile, url, token, current }) => [profile, url ?? '', yesNo(token), yesNo(current)],
};

/** Returns one setting a line: in two columns for a terminal, as `name<TAB>value` for a pipe. */
function profileText(shown: ShownProfile, look: Look): string {
  const { profile, current, url, token, ...rest } = shown;
  return pairs(
    [
      ['name', profile],
      ['current', yesNo(current)],
      ['url', url ?? ''],
      ['token', yesNo(token)],
      ...Object.entries(rest).map(([key, value]): [string, string] => [key, String(value)]),
    ],
    look,
  );
}
