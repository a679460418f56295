/** Languages of the texts for users. The first is the default. */
export const languages = ['en', 'id', 'ms'] as const
export type Language = (typeof languages)[number]

/** A text in every language; `{name}` stands for a parameter, which each language has. */
export type Text = Readonly<Record<Language, string>>
