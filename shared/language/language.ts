/** Languages of the texts, the first of which is the default. */
export const languages = ['en', 'id', 'ms'] as const
export type Language = (typeof languages)[number]

export const locales = { en: 'en-GB', id: 'id-ID', ms: 'ms-MY' } as const satisfies Record<Language, string>

/** A text in every language. `{name}` stands for a parameter, which each language contains. */
export type Text = Readonly<Record<Language, string>>
