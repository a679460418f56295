import { signedByAny } from '../../hmac.ts'

const toleranceSeconds = 300

/**
 * `t=<unix s>,v1=<hex>`, during a rotation two such sets separated by a space; signed is the time,
 * a dot and the raw body (docs.withpersona.com, "Webhooks best practices").
 */
export function verifyPersona(
  body: Uint8Array,
  headers: Headers,
  secrets: readonly string[],
  nowMs: number,
): { ok: true } | { reason: string } {
  const header = headers.get('persona-signature')
  if (!header) return { reason: 'Persona-Signature is missing' }
  const sets = header.slice(0, 2_000).split(' ').map(setOf)
  const known = sets.filter((set) => set !== undefined)
  if (known.length === 0) return { reason: 'Persona-Signature has no v1' }
  const fresh = known.filter(({ t }) => Math.abs(nowMs / 1000 - Number(t)) <= toleranceSeconds)
  if (fresh.length === 0) return { reason: 'Persona-Signature is stale' }
  const signed = fresh.some(({ t, v1 }) => signedByAny(secrets, 'sha256', [`${t}.`, body], v1))
  return signed ? { ok: true } : { reason: 'the signature is wrong' }
}

function setOf(text: string): { t: string; v1: string } | undefined {
  const fields = new Map(
    text.split(',').map((field) => field.split('=', 2) as [string, string | undefined]),
  )
  const t = fields.get('t')
  const v1 = fields.get('v1')
  return t && v1 && /^[0-9]{1,12}$/.test(t) ? { t, v1 } : undefined
}
