/** The first is the default. */
export const languages = ['en', 'id', 'ms'] as const
export type Language = (typeof languages)[number]

export const locales = { en: 'en-GB', id: 'id-ID', ms: 'ms-MY' } as const satisfies Record<Language, string>

/** `{name}` stands for a parameter; every language has each. */
export type Text = Readonly<Record<Language, string>>
