import type { HeaderFields, Transport } from '../platform/context';
import type { CliError, Hint } from '../platform/errors';
import type { Call } from './calls';
import type { FormBody } from './form';
import type { WholeResponse } from './transport/response';

/** A function runs another program for the token when it is first needed. */
export type Token = string | (() => Promise<string>) | RenewableToken;

/** A token that the instance itself gives, for a time. */
export interface RenewableToken {
  /**
   * Returns the token that is good now, for which it may call the instance.
   * @param refused a token that the instance does not accept any more
   */
  current(settings: ApiSettings, refused?: string): Promise<string>;
}

export interface ApiSettings {
  /** The address of the instance without a final slash. */
  readonly base: string;
  /** The hint when the instance cannot be reached. It names the source of `base`. */
  readonly addressHint?: Hint | undefined;
  readonly fromLink?: boolean | undefined;
  readonly token?: Token | undefined;
  readonly tokenFrom?: string | undefined;
  readonly tokenOfProfile?: boolean | undefined;
  /** Whether any certificate of the instance is accepted. */
  readonly insecure?: boolean | undefined;
  /** The audience of identity tokens for this instance; `base` by default. */
  readonly audience?: string | undefined;
  /** The hint when a token is missing. It names the profiles whose token is not sent. */
  readonly tokenHint?: Hint | undefined;
  readonly anonymous?: boolean | undefined;
  /** Begins to connect to the instance, while the token is read. */
  readonly open?: (() => void) | undefined;
  /** Headers that a proxy requires. They are sent with the token, to the instance's origin only. */
  readonly headers?: HeaderFields | undefined;
  readonly userAgent: string;
  readonly send: Transport;
  readonly now: () => Date;
  /** The most seconds between two pieces of a response. */
  readonly timeout?: number | undefined;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called before each wait that a 429 or 503 asks for. */
  readonly waiting?: (seconds: number, status: number) => void | Promise<void>;
  /** Seconds within which an HTTP request is sent again after its response was lost. */
  readonly patience?: number | undefined;
  /** Whether the instance does a repetition once. While this is undefined, the client asks the instance. */
  readonly repeats?: boolean | undefined;
  /** Called before the first repetition of a request whose response was lost. */
  readonly repeating?: (lost: CliError) => void | Promise<void>;
}

export type ReadySettings = Omit<ApiSettings, 'token'> & {
  readonly token?: string | undefined;
  /** Sends at once, even during a wait for `Retry-After`. */
  readonly sendNow: Transport;
};

export interface CallDetails {
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** `URLSearchParams` are sent as a form, anything else as JSON. */
  readonly body?: unknown;
  readonly form?: FormBody | undefined;
  /** No message repeats these texts. */
  readonly secrets?: readonly (string | undefined)[];
  /** Shows that the caller has the key of the push (docs/encryption.md, "Proof of the key"). */
  readonly keyProof?: string | undefined;
  /** The caller has no private key, so that `pwpush serve` does not give them a push to public keys. */
  readonly withoutIdentity?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface SentCall {
  readonly call: Call;
  readonly details: CallDetails;
  readonly settings: ReadySettings;
}

/** A response has a value if it is a success that matches the schema of the call. */
export type Answer<Value = unknown> =
  | { readonly response: WholeResponse; readonly value?: Value | undefined; readonly error?: never }
  | { readonly error: CliError; readonly response?: never; readonly value?: never };
