import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { type Exchange, etagOf, noneMatch } from './etag'
import { largeHeaders, streamedFromBytes } from './outgoing'

/** Content that is the same for every caller. */
type Content = {
  readonly type: string
  /** Cache-Control; `no-cache` by default, so that callers revalidate. */
  readonly cacheControl?: string
  /** Content-Security-Policy; the default allows nothing. */
  readonly policy?: string
  /** Reads the content; called until it succeeds once. */
  readonly read: () => Promise<string | Uint8Array<ArrayBuffer>> | string
}

type Prepared = { readonly plain: Blob; readonly packed: Blob | undefined; readonly etag: string }

/** Serves content that is compressed once: a `Response` shares the bytes of a `Blob`, but copies others. */
export function openStatic({ type, cacheControl = 'no-cache', policy, read }: Content) {
  let prepared: Promise<Prepared> | undefined
  return async ({ request, set }: Exchange): Promise<Response | undefined> => {
    prepared ??= prepare(type, read).catch((error) => {
      prepared = undefined
      throw error
    })
    const { plain, packed, etag } = await prepared
    const { headers } = set
    headers['content-type'] = type
    headers['cache-control'] = cacheControl
    headers.etag = `W/${etag}`
    headers.vary = [headers.vary, 'Accept-Encoding'].filter(Boolean).join(', ')
    if (policy) headers['content-security-policy'] = policy
    if (noneMatch(request.headers.get('if-none-match'), etag)) {
      set.status = 304
      return undefined
    }
    const sent = takesGzip(request.headers.get('accept-encoding')) ? (packed ?? plain) : plain
    if (sent === packed) headers['content-encoding'] = 'gzip'
    return new Response(sent, sent.size < streamedFromBytes ? {} : { headers: largeHeaders })
  }
}

const packedTypes = /^(image\/png|application\/gzip)/

async function prepare(type: string, read: Content['read']): Promise<Prepared> {
  const content = await read()
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const packed = packedTypes.test(type) ? undefined : new Blob([await promisify(gzip)(bytes)])
  return { plain: new Blob([bytes]), packed, etag: etagOf(bytes) }
}

const takesGzip = (accepted: string | null): boolean =>
  (accepted ?? '').split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '1'
    return (name === 'gzip' || name === 'x-gzip') && Number(quality) > 0
  })
