import type { ExchangeOutcome } from '../ops/metrics';

/** Why an identity token gets no token of ours. Its texts are our own, and quote nothing of the token. */
export class ExchangeRefusal extends Error {
  override readonly name = 'ExchangeRefusal';

  /**
   * @param message for the client, in the characters of `error_description` (RFC 6749, 5.2)
   * @param details the reason for the log, if it is not the message; and the seconds after which to try again, if the
   *   issuer is away
   */
  constructor(
    readonly outcome: Exclude<ExchangeOutcome, 'granted'>,
    message: string,
    readonly details: { readonly reason?: string; readonly retryAfter?: number } = {},
  ) {
    super(message);
  }
}
