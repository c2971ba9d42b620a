import { CliError } from '../errors';

/** A refused push with files: why, in the instance's words, and what may be done about it. */
export function aboutFiles(failure: CliError, said: string, authenticated: boolean): CliError {
  const { code, message, status } = failure;
  const words = said === '' || message.includes(said) ? message : `${message}: ${said}`;
  const hint = hintFor(status, words, authenticated) ?? failure.hint;
  return new CliError(code, words, { status, hint, cause: failure.cause });
}

function hintFor(
  status: number | undefined,
  words: string,
  authenticated: boolean,
): string | undefined {
  if ((status === 401 || status === 403) && !authenticated)
    return 'attaching files needs a token there: log in with pwpush login, or set PWPUSH_TOKEN';
  if (status === 413)
    return 'the files are larger than the instance, or a proxy in front of it, takes';
  if (status === 422 && /\b(files?|attach\w*|kind)\b/i.test(words))
    return 'pwpush version tells whether the instance takes files (features.pushes.file_attachments)';
  return undefined;
}
