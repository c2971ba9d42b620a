import en from './locales/en.json';

type English = typeof en;
type Key = Exclude<keyof English, `@${string}`>;

export type PhraseKey = { [K in Key]: English[K] extends string ? K : never }[Key];
export type PluralKey = Exclude<Key, PhraseKey>;

/** A phrase for each plural category of a language (Unicode CLDR), with the number as {count}. */
export type PluralForms = Readonly<
  Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }
>;

export type Strings = Readonly<Record<PhraseKey, string> & Record<PluralKey, PluralForms>>;

type NamedBy<Note> = Note extends keyof English
  ? English[Note] extends { placeholders: infer Names }
    ? keyof Names & string
    : never
  : never;

/** The note of a phrase in `en.json` names its placeholders, besides the {count} of plural forms. */
export type Placeholder<K extends Key> = NamedBy<`@${K}`>;

export const english: Strings = en;
