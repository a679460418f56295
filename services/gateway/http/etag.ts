import { createHash } from 'node:crypto'
import { outgoing } from './outgoing'

export type Tagged = { readonly body: string; readonly etag: string }

export const tagged = (value: unknown): Tagged => {
  const body = JSON.stringify(value)
  return { body, etag: etagOf(body) }
}

export type Exchange = {
  readonly request: Request
  readonly set: { headers: Record<string, string | number>; status?: number | string }
}

export function answerTagged({ request, set }: Exchange, { body, etag }: Tagged) {
  set.headers.etag = etag
  set.headers['content-type'] = 'application/json'
  if (!noneMatch(request.headers.get('if-none-match'), etag)) return outgoing(body)
  set.status = 304
}

/** Returns a strong entity tag. */
export const etagOf = (body: string | Uint8Array): string =>
  `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

/** Compares entity tags weakly, as RFC 9110 section 13.1.2 requires. */
export const noneMatch = (header: string | null, etag: string): boolean =>
  header?.split(',').some((part) => ['*', etag].includes(part.trim().replace(/^W\//, ''))) ?? false
