import type { Field, Fields } from '#platform/config'

export type Row = {
  name: string
  type: string
  fallback: string | undefined
  secret: boolean
  about: string
  readers: string[]
}

const rowOf = (name: string, field: Field<unknown>, reader: string): Row => ({
  name,
  type: field.range ? `${field.type} from ${field.range.least} to ${field.range.most}` : field.type,
  fallback: field.fallback,
  secret: field.secret,
  about: field.about,
  readers: [reader],
})

const sameMeaning = (left: Row, right: Row) =>
  left.name === right.name &&
  left.type === right.type &&
  left.fallback === right.fallback &&
  left.secret === right.secret &&
  left.about === right.about

/** Returns the variables by name, one row for each default or description. */
export function rowsOf(processes: Readonly<Record<string, Fields>>): Row[] {
  const rows: Row[] = []
  for (const [reader, fields] of Object.entries(processes)) {
    for (const [name, field] of Object.entries(fields)) {
      const row = rowOf(name, field, reader)
      const known = rows.find((other) => sameMeaning(other, row))
      if (known) known.readers.push(reader)
      else rows.push(row)
    }
  }
  return rows.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0))
}
