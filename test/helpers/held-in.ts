/** The names of the secrets that a text holds: as they begin, in hexadecimal, or in base64 at any offset. */
export const heldIn = <Name extends string>(text: string, secrets: Readonly<Record<Name, string>>) =>
  (Object.keys(secrets) as Name[]).filter((name) => {
    const bytes = Buffer.from(secrets[name]);
    const encoded = [0, 1, 2].map((at) => bytes.subarray(at).toString('base64').slice(0, 12));
    const spellings = [secrets[name].slice(0, 14), bytes.toString('hex'), ...encoded];
    return spellings.some((one) => text.includes(one));
  });
