import { locales } from '../../contract/api';
import { roundedTime } from '../../contract/lifetime';
import { sizeText, timeOptions } from './browser/formats';
import { type Inserted, Markup, markup } from './markup';
import type { PhraseKey, Placeholder, PluralForms, PluralKey, Strings } from './phrases';
import { english } from './phrases';

export class Words {
  readonly direction: 'ltr' | 'rtl';
  private readonly plurals: Intl.PluralRules;
  private readonly relative: Intl.RelativeTimeFormat;
  private readonly numbers: Intl.NumberFormat;
  private readonly dates: Intl.DateTimeFormat;
  private readonly clock: Intl.DateTimeFormat;

  constructor(
    readonly locale: string,
    private readonly strings: Strings,
  ) {
    this.direction = locale === 'ur' ? 'rtl' : 'ltr';
    this.plurals = new Intl.PluralRules(locale);
    this.relative = new Intl.RelativeTimeFormat(locale);
    this.numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
    this.dates = new Intl.DateTimeFormat(locale, { ...timeOptions.date, timeZone: 'UTC' });
    this.clock = new Intl.DateTimeFormat(locale, { ...timeOptions.clock, timeZone: 'UTC' });
  }

  /** Leaves placeholders as they are. */
  text(key: PhraseKey): string {
    return this.strings[key];
  }

  /** Fills the placeholders of a phrase, and escapes values that are not markup. */
  fill<Key extends PhraseKey>(key: Key, values: Record<Placeholder<Key>, Inserted>): Markup {
    return filled(this.strings[key], values);
  }

  count<Key extends PluralKey>(
    key: Key,
    count: number,
    values?: Record<Placeholder<Key>, Inserted>,
  ): Markup {
    const forms: PluralForms = this.strings[key];
    const form = forms[this.plurals.select(count)] ?? forms.other;
    return filled(form, { ...values, count: this.number(count) });
  }

  number(value: number): string {
    return this.numbers.format(value);
  }

  /** Returns a rounded time from now: `in 7 days`, `in 5 seconds`. */
  when(milliseconds: number): string {
    return this.relative.format(...roundedTime(milliseconds));
  }

  /** Returns a date and time in UTC, which `every-page.ts` makes local. */
  date(time: number): Markup {
    return timeElement(time, 'date', this.dates);
  }

  /** Returns a time of the same day in UTC, which `every-page.ts` makes local. */
  clockTime(time: number): Markup {
    return timeElement(time, 'clock', this.clock);
  }

  size(bytes: number): string {
    const size = sizeText(bytes, this.locale);
    // Without isolation, the unit would come first (Unicode UAX #9, 2.4).
    return this.direction === 'rtl' && bytes >= 1024 ? `\u2068${size}\u2069` : size;
  }
}

function timeElement(time: number, kind: keyof typeof timeOptions, format: Intl.DateTimeFormat) {
  const iso = new Date(time).toISOString();
  return markup`<time datetime="${iso}" data-time="${kind}">${format.format(time)}</time>`;
}

function filled(phrase: string, values: Readonly<Record<string, Inserted>>): Markup {
  const pieces = phrase
    .split(/\{(\w+)\}/)
    .map((piece, index) => (index % 2 === 0 ? piece : (values[piece] ?? '')));
  return new Markup(pieces.flatMap((piece) => markup`${piece}`.pieces));
}

const loaded = new Map<string, Words>();

/** Returns the words of `?locale=`, else of the browser's first language that is available, else of English. */
export async function wordsFor(request: Request): Promise<Words> {
  const locale = localeOf(request);
  const words = loaded.get(locale) ?? (await load(locale));
  loaded.set(locale, words);
  return words;
}

/** English replaces British English and missing phrases. */
async function load(locale: string): Promise<Words> {
  const file = locale === 'en-GB' ? 'en' : locale;
  const own: { default: Partial<Strings> } = await import(`./locales/${file}.json`);
  return new Words(locale, { ...english, ...own.default });
}

/** Returns a code of `locales`. */
export function localeOf(request: Request): string {
  const wanted = new URL(request.url).searchParams.get('locale') ?? '';
  const accepted = acceptedIn(request.headers.get('accept-language') ?? '');
  for (const tag of [wanted, ...accepted]) {
    const locale = lookUp(tag);
    if (locale !== undefined) return locale;
  }
  return 'en';
}

/** Longer lists of languages, which no browser sends, are cut. */
const MOST_ACCEPTED = 30;

/** Returns the tags of Accept-Language, the preferred ones first (RFC 9110, 12.5.4). */
function acceptedIn(header: string): string[] {
  const ranges = header.split(',', MOST_ACCEPTED).map((range) => {
    const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2) ?? '1';
    return { tag, weight: Number(weight) || 0 };
  });
  const wanted = ranges.filter(({ weight }) => weight > 0);
  return wanted.sort((a, b) => b.weight - a.weight).map(({ tag }) => tag);
}

const codes = new Map(locales.map((code) => [code.toLowerCase(), code]));
/** Browsers send these codes for languages that `locales` has under another code. */
const synonyms = new Map(Object.entries({ nb: 'no', nn: 'no', zh: 'zh-CN', pt: 'pt-BR' }));

/** Shortens a tag from its end until a language matches (RFC 4647, 3.4). */
function lookUp(tag: string): string | undefined {
  const parts = tag.toLowerCase().replaceAll('_', '-').split('-', 8);
  for (; parts.length > 0; parts.pop()) {
    const shorter = parts.join('-');
    const locale = codes.get(shorter) ?? synonyms.get(shorter);
    if (locale !== undefined) return locale;
  }
  return undefined;
}
