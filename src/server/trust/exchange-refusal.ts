import type { ExchangeOutcome } from '../ops/metrics';

/** Why an identity token gets no token of ours. Its texts are our own, and quote nothing of the token. */
export class ExchangeRefusal extends Error {
  /**
   * @param message for the client, in the characters of `error_description` (RFC 6749, 5.2)
   * @param details the reason for the log, unless it is the message, and the seconds until the issuer is asked again
   */
  constructor(
    readonly outcome: Exclude<ExchangeOutcome, 'granted'>,
    message: string,
    readonly details: { readonly reason?: string; readonly retryAfter?: number } = {},
  ) {
    super(message);
  }
}
