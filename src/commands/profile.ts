import { operand, type Rows } from '../cli/declare';
import { addProfileOptions, type Closed, type Options } from '../cli/options';
import { yesNo } from '../cli/terminal/listings';
import type { Entry, Look } from '../cli/terminal/output';
import { type Listing, pairs, table } from '../cli/terminal/table';
import { isLoopback } from '../contract/address';
import { usageError } from '../platform/errors';
import { namedProfile, noSuchProfile, profileIn, storedProfiles } from '../profile/config-file';
import { profileStore } from '../profile/profile-store';
import type { Session } from '../profile/session';
import {
  checkProfileName,
  hasToken,
  type Profile,
  settingNames,
  withSetting,
} from '../profile/settings';
import { forgetProfile } from '../profile/system-keyring';
import { shellWord } from '../words/grammar';
import help from './help/profile.txt?raw';
import { type CommandObject, command } from './planned';

const name = operand('[name]', 'the profile (default: the one in use)');
const given = operand('<name>', 'the profile');

const below = <R extends Rows & Closed<R>>(
  summary: string,
  rows: R,
  run: (session: Session, typed: Options<R>) => Promise<void>,
) => ({
  ...command<R, Options<R>>({ rows, run, globals: addProfileOptions, plan: (options) => options }),
  summary,
});

const everything = below('list the profiles', {}, list);

export default {
  ...everything,
  description: 'Manage profiles: an instance, its token, and defaults for pushes.',
  help,
  commands: {
    list: everything,
    show: below('show a profile (never its token)', { name }, show),
    use: below('switch to a profile', { name: given }, use),
    set: below(
      'change a setting',
      {
        key: operand('<key>', `the setting: ${settingNames.join(', ')}`),
        value: operand('<value>', 'its value'),
        name,
      },
      set,
    ),
    unset: below('remove a setting', { key: operand('<key>', 'the setting'), name }, unset),
    remove: {
      ...below('remove a profile and its token', { name: given }, remove),
      alias: 'rm',
    },
  },
} satisfies CommandObject;

async function list({ context, say }: Entry): Promise<void> {
  const { profiles, current } = storedProfiles(context);
  const shown = Object.entries(profiles).map(([name, one]) => shownProfile(name, one, current));
  if (shown.length === 0 && !say.manner.json)
    return say.note('no profiles; create one with pwpush login');
  await say.print(shown, (look) => table(shown, profileList, look));
}

async function show(run: Session, { name }: { readonly name?: string }) {
  const { context, say } = run;
  const state = storedProfiles(context);
  const found = namedProfile(state, nameTyped(run, name), context.env);
  const shown = shownProfile(found.name, found.profile, state.current);
  await say.print(shown, (look) => profileText(shown, look));
}

async function use(run: Entry, { name }: { readonly name: string }): Promise<void> {
  const store = await profileStore(run);
  await store.update((state) => {
    if (!profileIn(state, name)) throw noSuchProfile(name, state);
    return { ...state, current: name };
  });
  await changed(run, name, `using profile "${name}"`);
}

/** Says what changed; with `--json`, prints the profile. */
async function changed({ context, say }: Entry, name: string, what: string) {
  if (!say.manner.json) return say.remark(what);
  const stored = storedProfiles(context);
  await say.print(shownProfile(name, profileIn(stored, name) ?? {}, stored.current), () => '');
}

/** The profile that was named: behind the command, or with `--profile`. */
function nameTyped({ given }: Session, name: string | undefined): string | undefined {
  if (name === undefined || given.profile === undefined || name === given.profile)
    return name ?? given.profile;
  throw usageError(`two profiles are named: "${name}" and "${given.profile}"`, 'name one');
}

async function set(
  run: Session,
  { key, value, name }: { readonly key: string; readonly value: string; readonly name?: string },
) {
  if (name !== undefined) checkOrder('set', key, value, name);
  await change(run, key, value, name);
}

async function unset(
  run: Session,
  { key, name }: { readonly key: string; readonly name?: string },
) {
  if (name !== undefined) checkOrder('unset', key, name);
  await change(run, key, undefined, name);
}

/**
 * Refuses a profile that is named before the setting.
 * @throws CliError (usage) also for a value that the setting cannot have
 */
function checkOrder(verb: string, first: string, key: string, value?: string): void {
  const known: readonly string[] = [...settingNames, 'token'];
  if (known.includes(first) || !known.includes(key)) return;
  // First, so that a token, or an address with a password, is not repeated.
  withSetting({}, key, value);
  const words = [value ?? [], first].flat().map(shellWord);
  throw usageError('the setting comes before the profile', {
    text: 'the order is',
    command: ['pwpush profile', verb, key, ...words].join(' '),
  });
}

/**
 * Changes a setting, or removes it, of the named profile, else the one in use, else `default`; the first profile made
 * becomes the one in use.
 */
async function change(run: Session, key: string, value: string | undefined, typed?: string) {
  const { context, say } = run;
  const named = nameTyped(run, typed) ?? (context.env.PWPUSH_PROFILE || undefined);
  const store = await profileStore(run);
  let dropped = '';
  let replaced = false;
  let old: Profile = {};
  let summary = '';
  let name = '';
  await store.update((state) => {
    name = named ?? state.current ?? 'default';
    checkProfileName(name);
    const known = profileIn(state, name);
    if (known === undefined && value === undefined) throw noSuchProfile(name, state);
    // `set token-command pass show` without quotes. Every profile begins with an address.
    if (known === undefined && typed !== undefined && key !== 'url')
      throw usageError(
        `no profile "${name}"`,
        `put a value of several words in quotes, or create the profile with --profile ${name}`,
      );
    const before = known ?? {};
    const after = withSetting(before, key, value);
    const now = after[key as keyof Profile];
    summary = `profile "${name}": ${now === undefined ? `${key} is no longer set` : `${key} = ${now}`}`;
    if (state.current === undefined) summary += ', which is now in use';
    dropped = hasToken(before) && !hasToken(after) && key === 'url' ? removedText(after.url) : '';
    old = after.keyring ? {} : before;
    replaced = before.token !== undefined && after['token-command'] !== undefined;
    return { current: state.current ?? name, profiles: { ...state.profiles, [name]: after } };
  });
  await changed(run, name, summary);
  await warnOfKeyring(run, name, old);
  if (replaced) await say.note('the token that was stored in the profile was removed');
  if (dropped !== '') await say.warn(dropped);
}

/** What to do for a token at the new address of a profile, whose token was removed. */
function removedText(url: string | undefined): string {
  const isOwn = url !== undefined && isLoopback(new URL(url).hostname);
  const made = isOwn ? ' (pwpush serve token add NAME makes a token)' : '';
  return `the token belonged to the old address and was removed; run pwpush login${made}`;
}

/** Removes the token of a profile from the keyring, and warns if that fails. */
async function warnOfKeyring({ context, say }: Entry, name: string, profile: Profile) {
  if (!profile.keyring) return;
  const problem = await forgetProfile(context, name, profile);
  if (problem !== undefined) await say.warn(problem);
}

async function remove(run: Entry, { name }: { readonly name: string }): Promise<void> {
  const { say } = run;
  const store = await profileStore(run);
  let gone: Profile = {};
  await store.update((state) => {
    if (!profileIn(state, name)) throw noSuchProfile(name, state);
    const { [name]: removed = {}, ...profiles } = state.profiles;
    gone = removed;
    // Without choosing another one: pushes would silently go to another instance.
    const current = state.current === name ? undefined : state.current;
    return { ...(current === undefined ? {} : { current }), profiles };
  });
  await warnOfKeyring(run, name, gone);
  if (say.manner.json) return say.print(shownProfile(name, gone, undefined), () => '');
  await say.remark(`removed profile "${name}"`);
}

/** A profile without the value of its token. */
interface ShownProfile extends Omit<Profile, 'token'> {
  readonly profile: string;
  readonly current: boolean;
  readonly token: boolean;
}

/** @param inUse the name of the profile in use */
function shownProfile(name: string, profile: Profile, inUse: string | undefined): ShownProfile {
  return { profile: name, current: name === inUse, ...profile, token: hasToken(profile) };
}

/** `profile list`; in a pipe: name, address, token (yes or no), current (yes or no). */
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

/** One setting a line: two columns on a terminal, `name<TAB>value` in a pipe. */
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
