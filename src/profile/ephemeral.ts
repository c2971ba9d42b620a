import type { Entry } from '../cli/terminal/output';
import { apiClient } from '../client/client';
import type { HereEvent } from '../contract/here-event';
import { contextWith } from '../platform/context';
import { CliError, endedBy, type Fact } from '../platform/errors';
import { unlessEnded } from '../platform/interrupts';
import { clientSettings, type Instance } from './connect';
import { type ServiceModule, serviceIo, withService } from './load-service';
import type { Target } from './target';

type EphemeralSettings = Parameters<ServiceModule['serveHere']>[0];
type EphemeralService = Awaited<ReturnType<ServiceModule['serveHere']>>;

/** An instance in the memory of this process, for one push, or one request for a secret. */
export interface EphemeralInstance extends Instance {
  readonly ephemeral: true;
  readonly exposed: boolean;
  /** Resolves to the number of views or answers, once no more are possible; rejects if a signal ends the run. */
  ended(): Promise<number>;
  /** Resolves after the time in which a client may repeat an HTTP request whose response was lost. */
  settled(): Promise<void>;
}

const EVERYWHERE: readonly string[] = ['127.0.0.1', '0.0.0.0'];

export const LOST =
  'may not have the response: waiting up to 2 minutes for a repetition (Ctrl-C ends this)';

/** @throws CliError (failed) if this process cannot listen, before a person types the secret to serve */
export async function checkListening(host: string, port: number): Promise<void> {
  if (port === 0 && EVERYWHERE.includes(host)) return;
  await withService(({ tryListening }) => tryListening(host, port));
}

/**
 * Runs an instance in this process during `work`; its data is deleted then.
 * @param report receives what visitors do
 * @throws CliError (failed) if it cannot start; what `work` throws, by `ephemeralFailure`
 */
export async function withEphemeral(
  entry: Entry,
  settings: EphemeralSettings,
  report: (event: HereEvent) => void,
  work: (instance: EphemeralInstance) => Promise<void>,
): Promise<void> {
  const { context, say } = entry;
  context.interrupts.enter({ mode: 'own' });
  const { signal } = context;
  // The log shows only errors of the service; `report` receives what visitors do.
  const log = (line: string, level?: string) => void (level === 'error' && say.warn(line));
  const io = serviceIo(context, log, say.warn);
  const service = await withService(({ serveHere }) => serveHere(settings, io, report));
  try {
    if (signal.aborted) throw endedBy(signal);
    await work({
      ...(await instanceOf(entry, service)),
      ephemeral: true,
      exposed: service.exposed,
      ended: () => unlessEnded(service.ended, signal),
      settled: () => unlessEnded(service.settled, signal),
    });
  } catch (error) {
    throw ephemeralFailure(error);
  } finally {
    await service.close();
  }
}

async function instanceOf(
  entry: Entry,
  { base, token, send }: EphemeralService,
): Promise<Instance> {
  const target: Target = {
    base,
    baseFrom: 'here',
    edition: 'pwpush',
    insecure: false,
    anonymous: false,
    token: { from: '', read: async () => token },
    inUse: true,
    caFile: undefined,
    account: undefined,
    defaults: {},
  };
  const transport = async () => ({ send, close: async () => {} });
  const context = contextWith(entry.context, { transport });
  return { target, api: apiClient(await clientSettings({ ...entry, context }, target)) };
}

/** A refusal by the instance of this process is an error of the user's input, and no outcome is unknown at its end. */
function ephemeralFailure(error: unknown): unknown {
  if (!(error instanceof CliError)) return error;
  const facts = error.facts.flatMap(whyRefused);
  if (error.code === 'rejected') return error.with({ code: 'usage', facts });
  return error.code === 'unknown' ? error.with({ code: 'failed', hints: undefined }) : error;
}

/** Returns the instance's reasons from a fact `refused`; any other fact is the reason itself. */
function whyRefused(fact: Fact): readonly Fact[] {
  const reasons = typeof fact === 'object' && fact.name === 'refused' ? fact.of : [];
  return reasons.length === 0 ? [fact] : reasons.filter((reason) => typeof reason !== 'number');
}
