import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { askUntil } from '../cli/ask-until';
import type { ClientCertificate, Context } from '../platform/context';
import { phrase, usageError } from '../platform/errors';
import { readText } from '../platform/private-folder';

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  /** The file of the certificate if left out. */
  readonly key?: string | undefined;
}

/**
 * Reads a client certificate and its private key, and asks for the passphrase of an encrypted one.
 * @throws CliError (usage) when a file cannot be used, or the key is encrypted and there is no terminal
 */
export async function readClientCertificate(
  files: CertificateFiles,
  context: Context,
): Promise<ClientCertificate> {
  const cert = await readText(files.cert, 'client certificate');
  const path = files.key ?? files.cert;
  const pem = path === files.cert ? cert : await readText(path, 'private key');
  const shown = certificateIn(cert, files.cert);
  const key = isEncrypted(pem) ? await decrypted(pem, path, context) : privateKey(pem, path);
  if (!shown.checkPrivateKey(key))
    throw usageError(`the private key "${path}" does not belong to the client certificate`);
  return { cert, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

function certificateIn(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw usageError(`the client certificate "${path}" contains no PEM certificate`);
  }
}

function privateKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw usageError(
      `the private key "${path}" contains no PEM private key`,
      phrase('name-certificate-key'),
    );
  }
}

/** PKCS #8 (RFC 5958, 3), and the older form with `Proc-Type` (RFC 1421, 4.6.1.1). */
function isEncrypted(pem: string): boolean {
  return /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
}

async function decrypted(pem: string, path: string, context: Context): Promise<KeyObject> {
  if (!context.canPrompt())
    throw usageError(
      `the private key "${path}" is encrypted, and there is no terminal to ask for its passphrase`,
      'decrypt it with openssl pkey, and keep the file readable by you only',
    );
  const prompter = await context.prompter();
  const wrong = usageError(`wrong passphrase for the private key "${path}"`);
  return askUntil(
    async (failure) => {
      const question = failure ? 'Wrong, try again:' : 'Passphrase of the private key:';
      const passphrase = await prompter.secret(question);
      try {
        return createPrivateKey({ key: pem, passphrase });
      } catch {
        throw wrong;
      }
    },
    (failure) => failure === wrong,
  );
}
