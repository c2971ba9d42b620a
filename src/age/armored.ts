/** Whether a text starts with the first line of armor, after any white space. Alone here, as every `get` needs it. */
export function isArmored(text: string): boolean {
  return /^-----BEGIN AGE ENCRYPTED FILE-----\r?\n/.test(text.trimStart());
}
