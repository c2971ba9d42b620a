/** Whom to believe to be the instance, and where else that is said. */
export interface TrustOptions {
  /** PEM certificates trusted besides those Node trusts. */
  readonly ca?: string | undefined;
  /** Take any certificate. Whoever sets it has warned. */
  readonly insecure?: boolean | undefined;
  /** Where the proxy variables, and `NODE_EXTRA_CA_CERTS`, are read from. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Options of node:tls for both the proxy and the instance behind it. */
export interface Trust {
  readonly ca?: string[];
  /** Left out, Node asks `NODE_TLS_REJECT_UNAUTHORIZED`. */
  readonly rejectUnauthorized: boolean;
}

export async function trustOf({ ca, insecure, env }: TrustOptions): Promise<Trust> {
  return {
    ...(ca === undefined ? {} : { ca: await withRoots(ca, env) }),
    rejectUnauthorized: !insecure,
  };
}

/** Naming certificates replaces those Node trusts, so they are named too. */
async function withRoots(ca: string, env: TrustOptions['env']): Promise<string[]> {
  const [{ rootCertificates }, { readFile }] = await Promise.all([
    import('node:tls'),
    import('node:fs/promises'),
  ]);
  const extra = env.NODE_EXTRA_CA_CERTS;
  // Node itself only warns of a file it cannot read.
  const more = extra ? await readFile(extra, 'utf8').catch(() => '') : '';
  return [...rootCertificates, ca, ...(more === '' ? [] : [more])];
}
