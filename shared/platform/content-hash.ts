import { createHash } from 'node:crypto'

/** Independent of the order of fields. */
export function contentHash(content: Readonly<Record<string, unknown>>): string {
  const sorted = (_: string, value: unknown) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return createHash('sha256').update(JSON.stringify(content, sorted)).digest('hex')
}
