/** The files of a release that install it, by name. */
export function installers(release: {
  readonly version: string;
  readonly url: string;
  readonly home: string;
  readonly sums: readonly string[];
}): Record<string, string>;
