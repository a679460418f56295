import { createHash } from 'node:crypto'

/** Hashes content independently of the order of its fields. */
export function contentHash(content: Readonly<Record<string, unknown>>): string {
  const sorted = (_: string, value: unknown) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  return createHash('sha256').update(JSON.stringify(content, sorted)).digest('hex')
}
