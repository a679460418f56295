/** A field of a deed, as a form shows it. */
export type Field = {
  readonly name: string
  readonly label: string
  /** What can be chosen; a text is typed where it is left out. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[]
  readonly fallback?: string
  /** What a typed text must look like. */
  readonly pattern?: string
}

/** Something that a person can do to a stack on this machine. */
export type Deed = {
  readonly name: string
  readonly group: string
  readonly title: string
  /** What is asked before it is done. */
  readonly confirm: string
  /** Why it cannot be done now; absent when it can. */
  readonly disabled?: string
  readonly fields: readonly Field[]
  readonly act: (given: Given) => Promise<Done>
}

/** What a person filled in, each of it fitting its field. */
export type Given = Readonly<Record<string, string>>

/** What came of it, and the id by which it can be followed. */
export type Done = { readonly said: string; readonly item?: string }

/** What was given cannot be done: a sentence for the person. */
export class Unfit extends Error {
  override name = 'Unfit'
}

/** What was given, checked against the fields, each of which must be there. */
export function readGiven({ fields }: Pick<Deed, 'fields'>, body: unknown): Given {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  return Object.fromEntries(
    fields.map(({ name, label, choices, pattern }) => {
      const value = given[name]
      if (typeof value !== 'string' || value === '') throw new Unfit(`${label} is missing`)
      const fits = choices
        ? choices.some((choice) => choice.value === value)
        : new RegExp(`^(?:${pattern ?? '.{1,100}'})$`).test(value)
      if (!fits) throw new Unfit(`${label} is not what can be given here`)
      return [name, value]
    }),
  )
}
