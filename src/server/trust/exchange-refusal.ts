import type { ExchangeOutcome } from '../ops/metrics';

/** Why an identity token gets no token of ours. Its texts are our own, and quote nothing of the token. */
export class ExchangeRefusal extends Error {
  override readonly name = 'ExchangeRefusal';

  /**
   * @param message for the client, in the characters of `error_description` (RFC 6749, 5.2)
   * @param reason for the log; by default the message
   * @param retryAfter seconds; set if the issuer is away
   */
  constructor(
    readonly outcome: Exclude<ExchangeOutcome, 'granted'>,
    message: string,
    readonly reason = message,
    readonly retryAfter?: number,
  ) {
    super(message);
  }
}
