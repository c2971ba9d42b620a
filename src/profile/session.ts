import { entryOf, type Manner } from '../cli/terminal/output';
import type { Context } from '../platform/context';
import { lazy } from '../platform/files/lazy';
import { clientOf, connect, connectEach, type Instance } from './connect';
import { readReceipts } from './receipts';
import { type ConnectedItem, type ItemReference, located, referenceOf } from './references';
import type { Profile } from './settings';
import { type InstanceOptions, sourcesOf, withProfiles } from './sources';
import { NoInstance, type Target, targetOf } from './target';

export type Named = ItemReference;
export type NamedItem = ConnectedItem;
export type Session = ReturnType<typeof createSession>;

/** One run of a command, for those that do not take an entry and a target yet. */
export function createSession(context: Context, given: InstanceOptions, manner: Manner) {
  const entry = entryOf(context, manner);
  const made = lazy(() => sourcesOf(entry, given));
  const sources = () => withProfiles(context, made());
  const receipts = lazy(() => readReceipts(context));
  const target = lazy(() => targetOf(sources()));
  return {
    ...entry,
    given,
    sources,
    target,
    defaults: (): Profile | undefined => {
      const { ignored, defaults } = target();
      if (ignored) throw ignored;
      return defaults;
    },
    isUnconfigured: (error: unknown) => error instanceof NoInstance,
    reference: (link: string): Named => referenceOf(link, receipts),
    receipts,
    connect: async (connections?: number): Promise<Instance> =>
      connect(entry, { target: target() }, connections),
    connectTo: async (named: Named, connections?: number): Promise<ConnectedItem> => {
      const [item] = await connectEach(entry, located([named], sources()), connections);
      return item as ConnectedItem;
    },
    connectEach: async (
      references: readonly Named[],
      connections?: number,
    ): Promise<ConnectedItem[]> => connectEach(entry, located(references, sources()), connections),
    clientAt: (target: Target, connections?: number): Promise<Instance['api']> =>
      clientOf(entry, target, connections),
  };
}

/** A session of its own, in which everything is decided again, with other limits or without a token. */
export function another(
  { context, given, say }: Session,
  {
    context: within = context,
    ...change
  }: Partial<InstanceOptions> & {
    readonly context?: Context;
  } = {},
): Session {
  return createSession(within, { ...given, ...change }, say.manner);
}
