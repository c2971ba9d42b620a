// The manifest of a push with files (docs/encryption.md, "Files").

/** How it begins. A text that begins so cannot be sent without a file. */
export const MANIFEST = '{"pwpush-manifest":';

export interface ManifestFile {
  readonly name: string;
  readonly type?: string;
  /** Bytes of plaintext. */
  readonly size: number;
  /** Of its age header, in base64 without padding. */
  readonly mac?: string;
}

export interface Manifest {
  readonly message?: string;
  /** The first one is `1.age`. */
  readonly files: readonly ManifestFile[];
}

/** Parses a manifest; undefined for any other text, and for another version. */
export function parseManifest(text: string): Manifest | undefined {
  if (!text.startsWith(`${MANIFEST}1,`)) return undefined;
  try {
    const { message, files } = JSON.parse(text) as Manifest;
    const valid = files.every(({ name, size }) => typeof name === 'string' && size >= 0);
    return valid ? { message: String(message ?? ''), files } : undefined;
  } catch {
    return undefined;
  }
}

export function manifestText({ message, files }: Manifest): string {
  // The order is part of the format.
  return JSON.stringify({ 'pwpush-manifest': 1, ...(message?.trim() ? { message } : {}), files });
}
