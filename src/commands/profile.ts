import { operand, type Rows } from '../cli/declare';
import { type Closed, type Options, profileGlobals } from '../cli/options';
import { yesNo } from '../cli/terminal/listings';
import type { Entry, Look } from '../cli/terminal/output';
import { type Listing, pairs, table } from '../cli/terminal/table';
import { isLoopback } from '../contract/address';
import { usageError } from '../platform/errors';
import {
  existingProfile,
  noSuchProfile,
  profileIn,
  profileInUse,
  storedProfiles,
} from '../profile/config-file';
import {
  checkProfileName,
  hasToken,
  type Profile,
  settingNames,
  withSetting,
} from '../profile/settings';
import { updateProfiles } from '../profile/store';
import { forgetProfile } from '../profile/system-keyring';
import { shellWord } from '../words/grammar';
import help from './help/profile.txt?raw';
import { type CommandObject, command } from './planned';

const name = operand('[name]', 'the profile (default: the one in use)').names('profile');
const required = operand('<name>', 'the profile').names('profile');
const key = operand('<key>', 'the setting').names('setting');

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
    show: below('show a profile (never its token)', { name }, show),
    use: below('switch to a profile', { name: required }, use),
    set: below(
      'change a setting',
      {
        key: operand('<key>', `the setting: ${settingNames.join(', ')}`).names('setting'),
        value: operand('<value>', 'its value'),
        name,
      },
      change,
    ),
    unset: below('remove a setting', { key, name }, change),
    remove: { ...below('remove a profile and its token', { name: required }, remove), alias: 'rm' },
  },
} satisfies CommandObject;

interface NamedProfile {
  readonly name?: string;
  readonly profile?: string;
}

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
  const { name, profile } = existingProfile(stored, context.env, nameTyped(options));
  const shown = shownProfile(name, profile, stored.current);
  await say.print(shown, (look) => profileText(shown, look));
}

async function use(entry: Entry, { name }: { readonly name: string }) {
  const { profiles } = await updateProfiles(entry, (stored) => {
    if (!profileIn(stored, name)) throw noSuchProfile(name, stored);
    return { ...stored, current: name };
  });
  await changed(entry, shownProfile(name, profiles[name] ?? {}, name), `using profile "${name}"`);
}

/** Prints what changed, or with `--json` the profile. */
async function changed({ say }: Entry, profile: ShownProfile, what: string) {
  if (say.manner.json) return say.print(profile, () => '');
  await say.remark(what);
}

function nameTyped({ name, profile }: NamedProfile): string | undefined {
  if (name === undefined || profile === undefined || name === profile) return name ?? profile;
  throw usageError(`two profiles are named: "${name}" and "${profile}"`, 'name one');
}

/**
 * Refuses a profile that is named before the setting.
 * @throws CliError (usage) also for a value that the setting cannot have
 */
function checkOrder({ key: first, value: second, name: last }: ChangedSetting): void {
  const [verb, key, value] = second === undefined ? ['unset', last] : ['set', second, last];
  const known: readonly string[] = [...settingNames, 'token'];
  if (last === undefined || key === undefined || known.includes(first) || !known.includes(key))
    return;
  // `withSetting` throws for a token, or for an address with a password, which the error below would print.
  withSetting({}, key, value);
  const words = [value ?? [], first].flat().map(shellWord);
  throw usageError('the setting comes before the profile', {
    text: 'the order is',
    command: ['pwpush profile', verb, key, ...words].join(' '),
  });
}

interface ChangedSetting extends NamedProfile {
  readonly key: string;
  readonly value?: string;
}

/**
 * Sets a setting, or removes it if there is no value. Without a name, changes the profile in use, or else `default`.
 * The first profile becomes the current one.
 */
async function change(entry: Entry, options: ChangedSetting) {
  const { context, say } = entry;
  const { key, value, name: operand } = options;
  const wanted = nameTyped(options);
  checkOrder(options);
  const { name, before, after, ...stored } = await updateProfiles(entry, (now) => {
    const { name = 'default', profile } = profileInUse(now, context.env, wanted);
    checkProfileName(name);
    if (profile === undefined && value === undefined) throw noSuchProfile(name, now);
    // `set token-command pass show` lacks quotes: `show` is no profile. A new profile begins with its `url`.
    if (profile === undefined && operand !== undefined && key !== 'url')
      throw usageError(
        `no profile "${name}"`,
        `put a value of several words in quotes, or create the profile with --profile ${name}`,
      );
    const before = profile ?? {};
    const after = withSetting(before, key, value);
    const isFirst = now.current === undefined;
    const profiles = { ...now.profiles, [name]: after };
    return { current: now.current ?? name, profiles, name, before, after, isFirst };
  });
  const set = after[key as keyof Profile];
  const what = set === undefined ? `${key} is no longer set` : `${key} = ${set}`;
  const use = stored.isFirst ? ', which is now in use' : '';
  const shown = shownProfile(name, after, stored.current);
  await changed(entry, shown, `profile "${name}": ${what}${use}`);
  await forgetToken(entry, name, after.keyring ? {} : before);
  if (before.token !== undefined && after['token-command'] !== undefined)
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

async function remove(entry: Entry, { name }: { readonly name: string }) {
  const { removed } = await updateProfiles(entry, (stored) => {
    if (!profileIn(stored, name)) throw noSuchProfile(name, stored);
    const { [name]: removed = {}, ...profiles } = stored.profiles;
    // No other profile becomes current: pushes would silently go to another instance.
    const { current = name } = stored;
    return { ...(current === name ? {} : { current }), profiles, removed };
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
