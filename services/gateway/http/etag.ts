import { createHash } from 'node:crypto'

/** A JSON body, and the tag that stands for it. */
export type Tagged = { readonly body: string; readonly etag: string }

export const tagged = (value: unknown): Tagged => {
  const body = JSON.stringify(value)
  return { body, etag: etagOf(body) }
}

/** The answer's headers as Elysia has them, and the request that they answer. */
type Exchange = {
  readonly request: Request
  readonly set: { headers: Record<string, string | number>; status?: number | string }
}

/** The body to answer with; to whoever has it already 304, and none. */
export function answerTagged({ request, set }: Exchange, { body, etag }: Tagged) {
  set.headers.etag = etag
  set.headers['content-type'] = 'application/json'
  if (!noneMatch(request.headers.get('if-none-match'), etag)) return body
  set.status = 304
}

/** A strong entity tag: the same bytes, the same tag. */
export const etagOf = (body: string): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

/** Does If-None-Match name this tag? Compared weakly, as RFC 9110 section 13.1.2 asks. */
export const noneMatch = (header: string | null, etag: string): boolean =>
  header?.split(',').some((part) => ['*', etag].includes(part.trim().replace(/^W\//, ''))) ?? false
