import { createHash } from 'node:crypto'

/** A strong entity tag: the same bytes, the same tag. */
export const etagOf = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

/** Does If-None-Match name this tag? Compared weakly, as RFC 9110 section 13.1.2 asks. */
export const noneMatch = (header: string | null, etag: string): boolean =>
  (header ?? '').split(',').some((part) => ['*', etag].includes(part.trim().replace(/^W\//, '')))
