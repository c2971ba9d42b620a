export interface Promised {
  readonly document: string;
  readonly file: string;
  /** Empty where all tests of the file count. */
  readonly title: string;
  /** Where alone it can be run, if that is none of those that `.ci/run` has. */
  readonly system?: string | undefined;
}

export function promises(): Promised[];
export function isTable(title: string): boolean;
export function patternOf(title: string): RegExp;
export function lineOf(promise: Promised): string;
export function complaint(promise: Promised): string;
export function unwitnessed(lines: readonly string[]): Promised[];
