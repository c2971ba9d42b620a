// A manifest lists the files in the payload of an encrypted push (docs/encryption.md, "Files"). Browsers run this
// module, too.

export interface Manifest {
  readonly message?: string | undefined;
  readonly files: readonly ManifestFile[];
}

export interface ManifestFile {
  readonly name: string;
  readonly type: string;
  /** Bytes of plaintext. */
  readonly size: number;
  /** The MAC in the header of the encrypted file. */
  readonly mac?: string | undefined;
}

const START = '{"pwpush-manifest":';
const VERSION = 1;

export function encryptedName(index: number): string {
  return `${index + 1}.age`;
}

export function isManifest(plaintext: string): boolean {
  return plaintext.startsWith(START);
}

export function encodeManifest({ message, files }: Manifest): string {
  return JSON.stringify({ 'pwpush-manifest': VERSION, message, files });
}

/** Decodes a manifest. For an invalid one, it returns a text that says what is wrong. */
export function decodeManifest(plaintext: string): Manifest | string {
  let value: { readonly message?: unknown; readonly files?: unknown; 'pwpush-manifest'?: unknown };
  try {
    value = JSON.parse(plaintext);
  } catch {
    return 'the list of its files is not JSON';
  }
  const { message, files } = value;
  if (value['pwpush-manifest'] !== VERSION) return 'a newer version of pwpush made it';
  if (!Array.isArray(files) || (message !== undefined && typeof message !== 'string'))
    return 'the list of its files is invalid';
  const decoded = files.map(decodeFile).filter((file) => file !== undefined);
  if (decoded.length < files.length) return 'the list of its files is invalid';
  return { message, files: decoded };
}

function decodeFile(value: unknown): ManifestFile | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, type = 'application/octet-stream', size, mac } = value as Record<string, unknown>;
  if (typeof name !== 'string' || typeof type !== 'string') return undefined;
  if (!Number.isSafeInteger(size) || (size as number) < 0) return undefined;
  if (mac !== undefined && typeof mac !== 'string') return undefined;
  return { name, type, size: size as number, mac };
}
