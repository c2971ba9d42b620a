import { CliError } from '../errors';

/** A refused push with files: why, in the instance's words, and what may be done about it. */
export function aboutFiles(failure: CliError, said: string, asked: Sent): CliError {
  const { code, message, status } = failure;
  const words = said === '' || message.includes(said) ? message : `${message}: ${said}`;
  const hint = hintFor(status, words, asked) ?? failure.hint;
  return new CliError(code, words, { status, hint, cause: failure.cause });
}

interface Sent {
  readonly authenticated: boolean;
  readonly anonymous?: boolean | undefined;
}

function hintFor(
  status: number | undefined,
  words: string,
  { authenticated, anonymous }: Sent,
): string | undefined {
  if ((status === 401 || status === 403) && anonymous)
    return 'attaching files needs a token there: leave --anonymous out';
  if ((status === 401 || status === 403) && !authenticated)
    return 'attaching files needs a token there: log in with pwpush login, or set PWPUSH_TOKEN';
  if (status === 413)
    return 'the files are over a limit of the instance (pwpush serve: --max-file-size) or of a proxy in front of it';
  if (status === 422 && /\b(files?|attach\w*|kind)\b/i.test(words))
    return 'pwpush version tells whether the instance takes files (features.pushes.file_attachments)';
  return undefined;
}
