import { apiClient } from '../../client/client';
import { header, type Transport } from '../../client/transport/transport';
import type { Context } from '../../context';
import type { InstanceVersion } from '../../contract';
import { CliError } from '../../errors';
import type { GlobalOptions } from '../../options';
import type { Target } from '../../profile/target';
import { briefSettings } from '../../session';
import { abilities, editionOf } from '../../terminal/instance-info';
import { type Answered, type Check, type Facts, known } from './check';

/** Seconds by which two clocks may differ: `Date` knows whole ones, and an answer takes its time. */
const SKEW = 60;

/** The instance answers at its address, and does not send elsewhere. */
export const redirect: Check = {
  name: 'redirect',
  needs: ['tls'],
  examine: async (facts, context, options) => {
    await askVersion(facts, context, options);
    const { answers = [], asked } = facts;
    const moved = answers.find(({ status }) => status >= 300 && status < 400);
    if (answers.length === 0) return { status: 'skipped', message: 'no answer came' };
    if (moved === undefined) return { message: 'none' };
    if (asked instanceof CliError) throw asked;
    return {
      status: 'warning',
      message: `${moved.status} to ${moved.location}; each request is made twice`,
      hint: 'use the address it redirects to',
    };
  },
};

export const api: Check = {
  name: 'api',
  needs: ['redirect'],
  examine: ({ asked }) => {
    const version = versionOf(asked);
    const message = editionOf(version);
    if (version.api_version?.split('.')[0] === '2') return { message };
    return { status: 'warning', message, hint: 'pwpush speaks API v2' };
  },
};

export const clock: Check = {
  name: 'clock',
  needs: ['tls'],
  examine: ({ answers = [] }) => {
    const { date, at } = answers.at(-1) ?? {};
    const told = Date.parse(date ?? '');
    if (at === undefined || Number.isNaN(told))
      return { status: 'skipped', message: 'the instance did not tell its time' };
    const ahead = Math.round((at.getTime() - told) / 1000);
    if (Math.abs(ahead) <= SKEW) return { message: "the instance's shows the same" };
    const message = `this machine's is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} the instance's`;
    throw new CliError('failed', message, { hint: 'set the wrong one of the two, best by NTP' });
  },
};

export const token: Check = {
  name: 'token',
  needs: ['api'],
  examine: async (facts, context, options) => {
    const target = known(facts.target);
    if (target.token === undefined) return withoutToken(target, versionOf(facts.asked), options);
    await (await clientOf(target, context, options)).list('active', 1);
    const { tokenFrom } = target;
    return { message: `from ${tokenFrom}, accepted: it may list, audit and expire its pushes` };
  },
};

function withoutToken(target: Target, { features }: InstanceVersion, options: GlobalOptions) {
  const { knownTo } = target;
  const hint = options.anonymous
    ? undefined
    : knownTo === undefined
      ? 'log in with pwpush login'
      : `profile "${knownTo}" has one: --profile ${knownTo}`;
  if (features?.anonymous_access === false)
    throw new CliError('unauthorized', 'none, and the instance makes no push without one', {
      hint,
    });
  const message = 'none: pushes are made without an owner, who could list, audit and expire them';
  return { status: 'skipped', message, hint } as const;
}

export const features: Check = {
  name: 'features',
  needs: ['api'],
  examine: ({ asked }) => {
    const told = abilities(versionOf(asked));
    if (told === undefined)
      return { status: 'skipped', message: 'the instance does not tell what it can do' };
    return { message: told };
  },
};

/** Asks without a token, which proves the address alone; with it where the instance insists. */
async function askVersion(facts: Facts, context: Context, options: GlobalOptions): Promise<void> {
  const target = known(facts.target);
  const answers: Answered[] = [];
  const ask = async (of: Target) => (await clientOf(of, context, options, answers)).version();
  facts.answers = answers;
  facts.asked = await ask({ ...target, token: undefined })
    .catch((error) => {
      const again = isRefusal(error) && target.token !== undefined;
      return again ? ask(target) : Promise.reject(error);
    })
    .catch((error) => {
      if (error instanceof CliError) return error;
      throw error;
    });
}

const isRefusal = (error: unknown) => error instanceof CliError && error.code === 'unauthorized';

function versionOf(asked: Facts['asked']): InstanceVersion {
  const version = known(asked);
  if (version instanceof CliError) throw version;
  return version;
}

/** A client that gives up soon; what is answered is noted. */
async function clientOf(
  target: Target,
  context: Context,
  options: GlobalOptions,
  answers: Answered[] = [],
) {
  const settings = await briefSettings(context, options, target);
  const send: Transport = async (request) => {
    const response = await settings.send(request);
    const { status } = response;
    const [location, date] = [header(response, 'location'), header(response, 'date')];
    answers.push({ status, location, date, at: context.now() });
    return response;
  };
  return apiClient({ ...settings, send });
}
