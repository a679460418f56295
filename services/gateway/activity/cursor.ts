/** Where a page ended: the next one begins below it, in the order (createdAt, id). */
export type Cursor = { readonly createdAt: string; readonly id: string }

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Opaque to the app. */
export const formatCursor = ({ createdAt, id }: Cursor): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url')

/** Reads a cursor back; undefined when we never gave it. */
export function parseCursor(text: string): Cursor | undefined {
  if (!/^[A-Za-z0-9_-]{1,400}$/.test(text)) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (!Array.isArray(value) || value.length !== 2) return undefined
    const [createdAt, id] = value
    if (typeof createdAt !== 'string' || typeof id !== 'string') return undefined
    if (!timestamp.test(createdAt) || Number.isNaN(Date.parse(createdAt))) return undefined
    return id.length > 0 && id.length <= 200 ? { createdAt, id } : undefined
  } catch {
    return undefined
  }
}
