import type { HeaderFields, Token, Transport } from '../platform/context';
import type { CliError, Step } from '../platform/errors';
import type { Call } from './calls';
import type { FormBody } from './form';
import type { WholeResponse } from './transport/response';

export interface ApiSettings {
  /** The instance's base address, without a final slash. */
  readonly base: string;
  /** Where the base address is from, for the message when it cannot be reached. */
  readonly addressHint?: Step | undefined;
  /** The base address is that of a link. */
  readonly fromLink?: boolean | undefined;
  readonly token?: Token | undefined;
  readonly tokenFrom?: string | undefined;
  /** It was saved by a login. */
  readonly tokenOfProfile?: boolean | undefined;
  /** The step for a user whose profile has a token that is not sent. */
  readonly tokenHint?: Step | undefined;
  readonly anonymous?: boolean | undefined;
  /** Begins to connect to the instance, while the token is being got. */
  readonly open?: (() => void) | undefined;
  /** Of the user, for a proxy in front of the instance; sent with the token, to the instance's origin only. */
  readonly headers?: HeaderFields | undefined;
  readonly userAgent: string;
  readonly send: Transport;
  readonly now: () => Date;
  /** Seconds between two pieces of a response. */
  readonly timeout?: number | undefined;
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Called before each wait that a 429 or 503 asks for. */
  readonly waiting?: (seconds: number, status: number) => void | Promise<void>;
  /** Seconds for which a request is sent again whose response was lost; 90 if left out. */
  readonly patience?: number | undefined;
  /** Whether the instance does a repetition once; it is asked where that is not known. */
  readonly repeats?: boolean | undefined;
  /** Called before a request is sent again whose response was lost. */
  readonly repeating?: () => void | Promise<void>;
}

/** Settings with the token itself. */
export type ReadySettings = Omit<ApiSettings, 'token'> & {
  readonly token?: string | undefined;
  /** As `send`, but does not wait for other calls. */
  readonly sendNow: Transport;
};

export interface CallDetails {
  /** The token of the push or request that the path names. */
  readonly token?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** A form without files, or what is sent as JSON. */
  readonly body?: unknown;
  /** A body with files; JSON otherwise. */
  readonly form?: FormBody | undefined;
  /** Secrets of the request, which no message repeats. */
  readonly secrets?: readonly (string | undefined)[];
  /** Shows that the caller has the key of the push (docs/encryption.md, "Proof of the key"). */
  readonly keyProof?: string | undefined;
  /** The caller has no private key: our service does not give them a push to public keys. */
  readonly withoutIdentity?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface SentCall {
  readonly call: Call;
  readonly details: CallDetails;
  readonly settings: ReadySettings;
}

/** What a call came to: a response, with the value in a success of the form that the call has, or an error. */
export type Answer<Value = unknown> =
  | { readonly response: WholeResponse; readonly value?: Value | undefined; readonly error?: never }
  | { readonly error: CliError; readonly response?: never; readonly value?: never };
