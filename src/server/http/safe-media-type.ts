const ANY = 'application/octet-stream';

/** The media type without its parameters; that of plain bytes when it is none. */
export function plainType(text: string | undefined): string {
  const type = (text ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  const token = "[a-z0-9!#$%&'*+.^_`|~-]{1,127}";
  return new RegExp(`^${token}/${token}$`).test(type) ? type : ANY;
}

const ACTIVE =
  /(?:^|[^a-z])(?:x?html|xml|xsl|svg|css|wasm|flash|manifest|[a-z]*script)(?:$|[^a-z])/;

/** What a browser cannot be made to run in our name. Not that it should: it is told to save the file anyway. */
export function harmlessType(type: string): string {
  const known = /^(?:application|audio|font|image|model|text|video)\//.test(type);
  return known && !ACTIVE.test(type) ? type : ANY;
}
