import { limits } from '../../contract/api';
import { malformed, type ServiceRefusal } from '../service-errors';

const MAX_FIELDS = 100;
/** The longest name of a field has 34 characters, and an escaped character takes three bytes. */
const NAME_BYTES = 128;
const [PERCENT, AMPERSAND, PLUS, SPACE, EQUALS] = [0x25, 0x26, 0x2b, 0x20, 0x3d];

export class FormSize {
  /** Bytes of the names and values of a form when they are decoded. */
  text = 0;

  add(bytes: Uint8Array): void {
    let escapes = 0;
    for (const byte of bytes) if (byte === PERCENT) escapes++;
    this.text += bytes.length - 2 * escapes;
  }
}

/**
 * Yields name and value of the fields of a form in `application/x-www-form-urlencoded` whose names `isWanted` accepts.
 * Decodes them in place, which overwrites the form: a list of all matches, such as eight million `+`, would exhaust the
 * memory. The values of other fields are not decoded.
 * @throws ServiceRefusal for too many fields, and for an invalid one
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

/** Decodes UTF-8 and keeps its byte order mark. Returns undefined for invalid bytes, which must not be replaced. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Returns the text of a form of our pages as it was typed: browsers send line ends as CR LF (HTML Standard, 4.10.22.4),
 * which a private key must not have. A text that is too large in any case is returned unchanged.
 */
export function typedText(text: string): string {
  // Not replaceAll, whose list of matches takes several times the time and memory.
  return text.length > 2 * limits.textBytes ? text : text.split('\r\n').join('\n');
}

function indexOf(bytes: Uint8Array, byte: number, from?: number): number {
  const index = bytes.indexOf(byte, from);
  return index === -1 ? bytes.length : index;
}

/** The value of each byte as a hexadecimal digit; -256 for other bytes, which makes any sum in `decoded` negative. */
const hexDigits = new Int16Array(256).fill(-256);
for (const [value, digit] of [...'0123456789abcdef'].entries())
  for (const letter of [digit, digit.toUpperCase()]) hexDigits[letter.charCodeAt(0)] = value;

/** Decodes a name or value, and overwrites the bytes. */
function decoded(bytes: Uint8Array): string {
  let length = 0;
  for (let index = 0; index < bytes.length; index++, length++) {
    const byte = bytes[index] as number;
    if (byte !== PERCENT) bytes[length] = byte === PLUS ? SPACE : byte;
    else {
      // If the form ends within an escape, the code is NaN, for which `code >= 0` is false.
      const code =
        Number(hexDigits[bytes[++index] as number]) * 16 +
        Number(hexDigits[bytes[++index] as number]);
      if (!(code >= 0)) throw invalidForm();
      bytes[length] = code;
    }
  }
  const text = utf8(bytes.subarray(0, length));
  if (text === undefined) throw invalidForm();
  return text;
}

function invalidForm(): ServiceRefusal {
  return malformed('The form is not valid: it must be UTF-8, with two hex digits after each %.');
}
