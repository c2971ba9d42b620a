export interface Promised {
  readonly document: string;
  readonly file: string;
  /** Empty where any test of the file will do. */
  readonly title: string;
}

export function promises(): Promised[];
export function lineOf(promise: Promised): string;
export function complaint(promise: Promised): string;
export function unwitnessed(lines: readonly string[]): Promised[];
