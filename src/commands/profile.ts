import { Argument, Command } from 'commander';
import type { Context } from '../context';
import { addProfileOptions, type GlobalOptions, optionsOf } from '../options';
import { configFolder } from '../profile/folders';
import {
  namedProfile,
  noSuchProfile,
  type Profile,
  readProfiles,
  type StoredProfiles,
} from '../profile/profile';
import { checkProfileName, settingNames, withSetting } from '../profile/settings';
import { profileColumns, profileText, shownProfile } from '../terminal/listings';
import { terminal } from '../terminal/output';
import { table } from '../terminal/table';

const EXAMPLES = `
Examples:
  $ pwpush profile set url https://pwpush.example --profile work
  $ pwpush profile set days 2 --profile work
  $ pwpush profile use work`;

export function profileCommand(context: Context): Command {
  const command = new Command('profile')
    .description('Show and change profiles: an instance, its token, and defaults for pushes.')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES);
  const name = new Argument('[name]', 'the profile; left out, the one in use');
  const sub = (word: string, description: string) => {
    const one = addProfileOptions(command.command(word).summary(description));
    one.description(`${description.charAt(0).toUpperCase()}${description.slice(1)}.`);
    return { one, options: () => optionsOf(one, context.env, {}) };
  };
  const listing = sub('list', 'list the profiles');
  listing.one.action(() => list(context, listing.options()));
  const showing = sub('show', 'show a profile; its token only as a fact');
  showing.one.addArgument(name).action((one?: string) => show(context, showing.options(), one));
  const using = sub('use', 'make a profile the one in use');
  using.one
    .argument('<name>', 'the profile')
    .action((one: string) => use(context, using.options(), one));
  const setting = sub('set', 'change a setting of a profile, making it when it is new');
  setting.one
    .argument('<key>', `the setting: ${settingNames.join(', ')}`)
    .argument('<value>', 'its value; an empty one removes it')
    .action((key: string, value: string) => set(context, setting.options(), key, value));
  const removing = sub('remove', 'remove a profile and its token');
  removing.one
    .argument('<name>', 'the profile')
    .action((one: string) => remove(context, removing.options(), one));
  return addProfileOptions(command);
}

const stored = (context: Context) => readProfiles(configFolder(context));

const shownAll = (state: StoredProfiles) =>
  Object.entries(state.profiles).map(([name, profile]) =>
    shownProfile(name, profile, name === state.current),
  );

async function list(context: Context, options: GlobalOptions): Promise<void> {
  const profiles = shownAll(stored(context));
  const say = terminal(context, options);
  if (profiles.length === 0 && !options.json)
    return say.note('no profiles; make one with pwpush login');
  await say.print(profiles, (look) => table(profiles, profileColumns, look));
}

async function show(
  context: Context,
  options: GlobalOptions,
  name: string | undefined,
): Promise<void> {
  const state = stored(context);
  const found = namedProfile(state, name ?? options.profile, context.env);
  const shown = shownProfile(found.name, found.profile, found.name === state.current);
  await terminal(context, options).print(shown, (look) => profileText(shown, look));
}

async function use(context: Context, options: GlobalOptions, name: string): Promise<void> {
  const store = await context.profiles();
  await store.update((state) => {
    if (!Object.hasOwn(state.profiles, name)) throw noSuchProfile(name, state);
    return { ...state, current: name };
  });
  await terminal(context, options).remark(`using profile "${name}"`);
}

/** Without `--profile`, the one in use, or `default`; the first profile made becomes the one in use. */
async function set(
  context: Context,
  options: GlobalOptions,
  key: string,
  value: string,
): Promise<void> {
  const store = await context.profiles();
  let dropped = false;
  let said = '';
  await store.update((state) => {
    const name =
      options.profile ?? (context.env.PWPUSH_PROFILE || undefined) ?? state.current ?? 'default';
    checkProfileName(name);
    const before = Object.hasOwn(state.profiles, name) ? (state.profiles[name] ?? {}) : {};
    const after = withSetting(before, key, value);
    const now = after[key as keyof Profile];
    said = `${key} is ${now === undefined ? 'not set any more' : now} in profile "${name}"`;
    if (state.current === undefined) said += ', which is in use from now on';
    dropped = before.token !== undefined && after.token === undefined;
    return { current: state.current ?? name, profiles: { ...state.profiles, [name]: after } };
  });
  const say = terminal(context, options);
  await say.remark(said);
  if (dropped)
    await say.warn('the token belonged to the old address and was removed; run pwpush login');
}

async function remove(context: Context, options: GlobalOptions, name: string): Promise<void> {
  const store = await context.profiles();
  await store.update((state) => {
    if (!Object.hasOwn(state.profiles, name)) throw noSuchProfile(name, state);
    const { [name]: _gone, ...profiles } = state.profiles;
    // Another one must not come into use unasked: pushes would go to another instance.
    const current = state.current === name ? undefined : state.current;
    return { ...(current === undefined ? {} : { current }), profiles };
  });
  await terminal(context, options).remark(`profile "${name}" is removed`);
}
