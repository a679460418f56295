export type FormField = {
  readonly name: string
  readonly label: string
  /** Choices of the field. Without them it is a text field. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[]
  readonly fallback?: string
  readonly pattern?: string
}

export type ControlAction = {
  readonly name: string
  readonly group: string
  readonly title: string
  readonly confirm: string
  readonly disabled?: string
  readonly fields: readonly FormField[]
  readonly act: (given: Given) => Promise<Done>
}

export type Given = Readonly<Record<string, string>>

export type Done = { readonly said: string; readonly item?: string }

/** Thrown for an invalid field. The message is shown to the user. */
export class UnfitField extends Error {
  override name = 'UnfitField'
}

export function readAction({ fields }: Pick<ControlAction, 'fields'>, body: unknown): Given {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return Object.fromEntries(
    fields.map(({ name, label, choices, pattern }) => {
      const value = given[name]
      if (typeof value !== 'string' || value === '') throw new UnfitField(`${label} is missing`)
      const fits = choices
        ? choices.some((choice) => choice.value === value)
        : new RegExp(`^(?:${pattern ?? '.{1,100}'})$`).test(value)
      if (!fits) throw new UnfitField(`${label} is invalid`)
      return [name, value]
    }),
  )
}
