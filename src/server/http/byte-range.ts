/** Bytes from `first` to before `end`. */
export interface Span {
  readonly first: number;
  readonly end: number;
}

/**
 * What a Range header asks for of so many bytes (RFC 9110, 14): one span, 'none' when no byte is in it, or
 * 'all' for whatever else, several ranges included.
 */
export function readRange(header: string | null, size: number): Span | 'all' | 'none' {
  const match = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '');
  if (!match) return 'all';
  const [, from = '', to = ''] = match;
  if (from === '') return to === '' ? 'all' : suffix(Number(to), size);
  const first = Number(from);
  if (to !== '' && Number(to) < first) return 'all';
  if (first >= size) return 'none';
  return { first, end: to === '' ? size : Math.min(Number(to) + 1, size) };
}

function suffix(length: number, size: number): Span | 'none' {
  if (length === 0 || size === 0) return 'none';
  return { first: Math.max(0, size - length), end: size };
}
