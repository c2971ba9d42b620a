import type { Profile } from '../../src/profile/settings';
import type { Source, TargetRequest } from '../../src/profile/target';

/** What options and environment say, in brief. */
export interface Typed {
  readonly profile?: string | undefined;
  readonly url?: string | undefined;
  readonly token?: string | undefined;
  readonly anonymous?: boolean;
  readonly insecure?: boolean;
  readonly env?: {
    readonly profile?: string | undefined;
    readonly url?: string | undefined;
    readonly token?: string | undefined;
  };
}

/** The request of `chooseTarget` for that. */
export function requestOf({
  profile,
  anonymous = false,
  env = {},
  ...options
}: Typed): TargetRequest {
  return {
    profile,
    anonymous,
    options: source('--token-file', options),
    env: { ...source('PWPUSH_TOKEN', env), profile: env.profile },
    ofProfile: (name, stored) => ({ ...source(`profile "${name}"`, stored), settings: stored }),
  };
}

function source(from: string, given: Pick<Typed, 'url' | 'token' | 'insecure'>): Source {
  const { url, token, insecure } = given;
  const settings: Profile = {
    ...(url === undefined ? {} : { url }),
    ...(insecure ? { insecure } : {}),
  };
  return { settings, token: token === undefined ? undefined : { from, read: async () => token } };
}
