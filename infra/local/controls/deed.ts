/** Form field of a deed. */
export type FormField = {
  readonly name: string
  readonly label: string
  /** Options to choose from; a text field if left out. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[]
  readonly fallback?: string
  /** Regular expression that a typed text must match. */
  readonly pattern?: string
}

/** Action that a developer can take on a local stack. */
export type ControlAction = {
  readonly name: string
  readonly group: string
  readonly title: string
  /** Explanation shown before the action is confirmed. */
  readonly confirm: string
  /** Reason why the action is unavailable now; undefined if it is available. */
  readonly disabled?: string
  readonly fields: readonly FormField[]
  readonly act: (given: Given) => Promise<Done>
}

/** Validated values of the form, by field name. */
export type Given = Readonly<Record<string, string>>

/** Result message, with the id of the affected item. */
export type Done = { readonly said: string; readonly item?: string }

/** The input is invalid; the message is shown to the user. */
export class UnfitField extends Error {
  override name = 'UnfitField'
}

/** Validates the body against the fields, all of which are required; throws `Unfit`. */
export function readGiven({ fields }: Pick<ControlAction, 'fields'>, body: unknown): Given {
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
