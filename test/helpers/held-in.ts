/** Secrets that can be told from anything else. */
export const marks = {
  payload: 'MARKpayload7f3a9c2e51',
  passphrase: 'MARKpassphrase0b6d84f1c93e7',
  token: 'MARKtoken93e1c7a05d',
  note: 'MARKnote48a2f6e0b9',
  content: 'MARKcontentd15c0e7a63',
  key: 'MARKkey5c2e9a7f1d3b84A',
  proxy: 'MARKproxy6c0f3a',
};
export type Mark = keyof typeof marks;

export const marksIn = (text: string): Mark[] => heldIn(text, marks);

/** The names of the secrets that a text holds: as they begin, in hexadecimal, or in base64 at any offset. */
export const heldIn = <Name extends string>(text: string, secrets: Readonly<Record<Name, string>>) =>
  (Object.keys(secrets) as Name[]).filter((name) => {
    const bytes = Buffer.from(secrets[name]);
    const encoded = [0, 1, 2].map((at) => bytes.subarray(at).toString('base64').slice(0, 12));
    const spellings = [secrets[name].slice(0, 14), bytes.toString('hex'), ...encoded];
    return spellings.some((one) => text.includes(one));
  });
