import { limits } from '../../contract/api';
import { malformed, type ServiceRefusal } from '../service-errors';

const MAX_FIELDS = 100;
/** The longest name of a field has 34 characters, and three times as many when all are escaped. */
const NAME_BYTES = 128;
const [PERCENT, AMPERSAND, PLUS, SPACE, EQUALS] = [0x25, 0x26, 0x2b, 0x20, 0x3d];

/**
 * Name and value of the fields of a form in `application/x-www-form-urlencoded` whose names `isWanted` accepts. They are
 * decoded in place, so that a form takes no memory but its own: a list of eight million `+` takes all that there is. The
 * values of other fields are not looked at.
 * @throws ServiceRefusal for too many fields, and for one that is not valid
 */
export function* formFields(form: Uint8Array, isWanted: (name: string) => boolean) {
  let fields = 0;
  for (let from = 0, end = 0; from <= form.length; from = end + 1) {
    end = indexOf(form, AMPERSAND, from);
    fields += 1;
    if (fields > MAX_FIELDS) throw malformed(`The form has more than ${MAX_FIELDS} fields.`);
    const field = form.subarray(from, end);
    const equals = indexOf(field, EQUALS);
    if (equals > NAME_BYTES) continue;
    const name = decoded(field.subarray(0, equals));
    if (isWanted(name)) yield [name, decoded(field.subarray(equals + 1))] as const;
  }
}

/** The text of bytes in UTF-8, with its byte order mark; undefined for invalid ones, which must not be replaced. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * The text of a form of our pages as it was typed: browsers send its lines with CR LF (HTML Standard, 4.10.22.4), which a
 * private key must not have. One that is too large in any case stays as it is.
 */
export function typedText(text: string): string {
  // Not replaceAll, whose list of matches takes several times the time and memory.
  return text.length > 2 * limits.textBytes ? text : text.split('\r\n').join('\n');
}

function indexOf(bytes: Uint8Array, byte: number, from?: number): number {
  const index = bytes.indexOf(byte, from);
  return index === -1 ? bytes.length : index;
}

/** Overwrites the bytes. */
function decoded(bytes: Uint8Array): string {
  let length = 0;
  for (let at = 0; at < bytes.length; at++, length++) {
    let byte = bytes[at] ?? 0;
    if (byte === PLUS) byte = SPACE;
    else if (byte === PERCENT) byte = hexDigit(bytes[++at]) * 16 + hexDigit(bytes[++at]);
    if (Number.isNaN(byte)) throw invalidForm();
    bytes[length] = byte;
  }
  const text = utf8(bytes.subarray(0, length));
  if (text === undefined) throw invalidForm();
  return text;
}

/** NaN for any other byte, and for none. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}

function invalidForm(): ServiceRefusal {
  return malformed('The form is not valid: it must be UTF-8, with two hex digits after each %.');
}
