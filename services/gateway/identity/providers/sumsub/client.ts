import { createHmac } from 'node:crypto'
import { type Clock, toUnixSeconds } from '#shared/clock'
import { type Finding, type IdentityProvider, ProviderDown } from '../../identity-provider.ts'
import { getFromProvider, hostedLink, postToProvider } from '../../provider-call.ts'
import { findingOf, parseSumsub } from './mapping.ts'
import { verifySumsub } from './signature.ts'

/** `secretKey` signs our requests; `webhookSecrets` are other secrets, one per webhook. */
export type SumsubOptions = {
  apiUrl: string
  /** Tokens of production begin with `prd:`, those of the sandbox with `sbx:`. */
  appToken: string
  secretKey: string
  webhookSecrets: readonly string[]
  level: string
  clock: Clock
}

const linkTtlSeconds = 1_800
/** docs.sumsub.com, "Generate external WebSDK link". */
const linkPath = '/resources/sdkIntegrations/levels/-/websdkLink'
/** docs.sumsub.com, "Get applicant data by externalUserId". */
const personPath = (wallet: string) => `/resources/applicants/-;externalUserId=${wallet}/one`

/** Sumsub behind the port. */
export const sumsub = (options: SumsubOptions): IdentityProvider => ({
  name: 'sumsub',
  verify: (body, headers) => verifySumsub(body, headers, options.webhookSecrets),
  parse: parseSumsub,
  kept: (body) => body, // By its documentation there is no personal data in it.
  async createLink(wallet) {
    const body = JSON.stringify({
      levelName: options.level,
      userId: wallet,
      ttlInSecs: linkTtlSeconds,
    })
    const headers = signedHeaders(options, 'POST', linkPath, body)
    return hostedLink((await postToProvider(`${options.apiUrl}${linkPath}`, headers, body)).url)
  },
  async lookUp(wallet) {
    const path = personPath(wallet)
    const headers = signedHeaders(options, 'GET', path, '')
    const { status, body } = await getFromProvider(`${options.apiUrl}${path}`, headers)
    if (status === 404) return nobody(body)
    const sandbox = !options.appToken.startsWith('prd:')
    const found = findingOf(body, { wallet, level: options.level, sandbox })
    if ('fault' in found) throw new ProviderDown(`sumsub: ${found.fault}`)
    return found
  },
})

/** A 404 is about the person only in Sumsub's own words: a wrong address has 404s too. */
function nobody({ code }: Record<string, unknown>): Finding {
  if (code === 404) return { nobody: true }
  throw new ProviderDown('sumsub: a 404 in other words than its own')
}

function signedHeaders(options: SumsubOptions, method: 'GET' | 'POST', path: string, body: string) {
  const ts = String(toUnixSeconds(options.clock()))
  return {
    'X-App-Token': options.appToken,
    'X-App-Access-Ts': ts,
    'X-App-Access-Sig': accessSignature(options.secretKey, ts, method, path, body),
  }
}

/** docs.sumsub.com, "Authentication": hex HMAC-SHA256 over time, method, path with query, body. */
export const accessSignature = (
  secretKey: string,
  ts: string,
  method: string,
  path: string,
  body: string,
): string => createHmac('sha256', secretKey).update(`${ts}${method}${path}${body}`).digest('hex')
