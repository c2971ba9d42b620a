import { apiClient } from '../../client/client';
import { header } from '../../client/transport/call';
import type { Transport } from '../../context';
import type { InstanceVersion } from '../../contract';
import { CliError, failedError } from '../../errors';
import type { Target } from '../../profile/target';
import { briefSettings, type Session } from '../../session';
import { abilities, editionOf } from '../../terminal/instance-info';
import type { Finding } from './network';

/** Seconds by which two clocks may differ: `Date` has whole seconds, and an answer takes time. */
const SKEW = 60;

/** What came of one request for the version. */
interface Asked {
  readonly target: Target;
  /** Redirects included. */
  readonly answers: readonly Answer[];
  readonly version: InstanceVersion | CliError;
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
  /** The `Date` header. */
  readonly date: string | undefined;
  /** When it arrived, by the clock of this machine. */
  readonly at: Date;
}

/** Asks without a token, so that only the address is tested; with it if the instance requires one. */
export async function askVersion(target: Target, session: Session): Promise<Asked> {
  const answers: Answer[] = [];
  const ask = async (of: Target) => (await clientOf(of, session, answers)).version();
  const version = await ask({ ...target, token: undefined })
    .catch((error) => {
      const again = isRefusal(error) && target.token !== undefined;
      return again ? ask(target) : Promise.reject(error);
    })
    .catch((error) => {
      if (error instanceof CliError) return error;
      throw error;
    });
  return { target, answers, version };
}

const isRefusal = (error: unknown) => error instanceof CliError && error.code === 'unauthorized';

/** A client with a short limit, which adds each answer to `answers`. */
async function clientOf(target: Target, session: Session, answers: Answer[] = []) {
  const settings = await briefSettings(session, target);
  const send: Transport = async (request) => {
    const response = await settings.send(request);
    const { status } = response;
    const [location, date] = [header(response, 'location'), header(response, 'date')];
    answers.push({ status, location, date, at: session.context.now() });
    return response;
  };
  return apiClient({ ...settings, send });
}

/** The instance answers at its address, without redirecting. */
export function checkRedirect(asked: Asked): Finding & Asked {
  const moved = asked.answers.find(({ status }) => status >= 300 && status < 400);
  if (asked.answers.length === 0) return { ...asked, status: 'skipped', message: 'no answer' };
  if (moved === undefined) return { ...asked, message: 'none' };
  if (asked.version instanceof CliError) throw asked.version;
  return {
    ...asked,
    status: 'warning',
    message: `${moved.status} to ${moved.location}; each request is made twice`,
    hint: 'use the address it redirects to',
  };
}

interface Api extends Finding {
  readonly target: Target;
  readonly version: InstanceVersion;
}

export function checkApi({ target, version }: Asked): Api {
  if (version instanceof CliError) throw version;
  const found = { target, version, message: editionOf(version) };
  if (version.api_version?.split('.')[0] === '2') return found;
  return { ...found, status: 'warning', hint: 'pwpush speaks API v2' };
}

export function checkClock({ answers }: Asked): Finding {
  const { date, at } = answers.at(-1) ?? {};
  const sent = Date.parse(date ?? '');
  if (at === undefined || Number.isNaN(sent))
    return { status: 'skipped', message: 'the instance sent no date' };
  const ahead = Math.round((at.getTime() - sent) / 1000);
  if (Math.abs(ahead) <= SKEW) return { message: "agrees with the instance's" };
  const message = `this machine's is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} the instance's`;
  throw failedError(message, { hint: 'set the wrong one of the two, best by NTP' });
}

export async function checkToken({ target, version }: Api, session: Session): Promise<Finding> {
  if (target.token !== undefined) {
    await (await clientOf(target, session)).list('active', 1);
    const { tokenFrom } = target;
    return { message: `from ${tokenFrom}, accepted: it may list, audit and expire its pushes` };
  }
  const { knownTo } = target;
  const login =
    knownTo === undefined
      ? 'log in with pwpush login'
      : `profile "${knownTo}" has one: --profile ${knownTo}`;
  const hint = session.options.anonymous ? undefined : login;
  if (version.features?.anonymous_access === false)
    throw new CliError('unauthorized', 'none, and the instance makes no push without one', {
      hint,
    });
  const message = 'none: pushes are made without an owner, who could list, audit and expire them';
  return { status: 'skipped', message, hint };
}

export function checkFeatures({ version }: Api): Finding {
  const message = abilities(version);
  if (message !== undefined) return { message };
  return { status: 'skipped', message: 'the instance does not say what it can do' };
}
