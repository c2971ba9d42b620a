export interface CertificateOptions {
  /** PEM certificates that are trusted in addition to those of Node. */
  readonly ca?: string | undefined;
  /** Accept any certificate. The caller warns the user. */
  readonly insecure?: boolean | undefined;
  /** For `NODE_EXTRA_CA_CERTS`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Options of node:tls for both the instance and an https proxy. */
export interface TlsOptions {
  readonly ca?: string[];
  /** Always set: without it, Node reads `NODE_TLS_REJECT_UNAUTHORIZED`. */
  readonly rejectUnauthorized: boolean;
}

export async function tlsOptions({ ca, insecure, env }: CertificateOptions): Promise<TlsOptions> {
  return {
    ...(ca === undefined ? {} : { ca: await withRoots(ca, env) }),
    rejectUnauthorized: !insecure,
  };
}

/** The option `ca` replaces the certificates that Node trusts, so they are included. */
async function withRoots(ca: string, env: CertificateOptions['env']): Promise<string[]> {
  const [{ rootCertificates }, { readFile }] = await Promise.all([
    import('node:tls'),
    import('node:fs/promises'),
  ]);
  const extra = env.NODE_EXTRA_CA_CERTS;
  // Node itself only warns about a file that it cannot read.
  const more = extra ? await readFile(extra, 'utf8').catch(() => '') : '';
  return [...rootCertificates, ca, ...(more === '' ? [] : [more])];
}
