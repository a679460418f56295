/** Languages of the texts for users. The first is the default. */
export const languages = ['en', 'id', 'ms'] as const
export type Language = (typeof languages)[number]

/** Locales whose forms of dates and numbers each language has. */
export const locales = { en: 'en-GB', id: 'id-ID', ms: 'ms-MY' } as const satisfies Record<
  Language,
  string
>

/** A text in every language; `{name}` stands for a parameter, which each language has. */
export type Text = Readonly<Record<Language, string>>
