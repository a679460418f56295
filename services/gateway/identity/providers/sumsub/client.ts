import { createHmac } from 'node:crypto'
import { type Clock, toUnixSeconds } from '#shared/clock'
import type { IdentityProvider } from '../../identity-provider.ts'
import { hostedLink, postToProvider } from '../../provider-call.ts'
import { parseSumsub } from './mapping.ts'
import { verifySumsub } from './signature.ts'

/** `secretKey` signs our requests; `webhookSecrets` are other secrets, one per webhook. */
export type SumsubOptions = {
  apiUrl: string
  appToken: string
  secretKey: string
  webhookSecrets: readonly string[]
  level: string
  clock: Clock
}

const linkTtlSeconds = 1_800
/** docs.sumsub.com, "Generate external WebSDK link". */
const linkPath = '/resources/sdkIntegrations/levels/-/websdkLink'

/** Sumsub behind the port. */
export const sumsub = (options: SumsubOptions): IdentityProvider => ({
  name: 'sumsub',
  verify: (body, headers) => verifySumsub(body, headers, options.webhookSecrets),
  parse: parseSumsub,
  async createLink(wallet) {
    const body = JSON.stringify({
      levelName: options.level,
      userId: wallet,
      ttlInSecs: linkTtlSeconds,
    })
    const ts = String(toUnixSeconds(options.clock()))
    const answer = await postToProvider(
      `${options.apiUrl}${linkPath}`,
      {
        'X-App-Token': options.appToken,
        'X-App-Access-Ts': ts,
        'X-App-Access-Sig': accessSignature(options.secretKey, ts, 'POST', linkPath, body),
      },
      body,
    )
    return hostedLink(answer.url)
  },
})

/** docs.sumsub.com, "Authentication": hex HMAC-SHA256 over time, method, path with query, body. */
export const accessSignature = (
  secretKey: string,
  ts: string,
  method: string,
  path: string,
  body: string,
): string => createHmac('sha256', secretKey).update(`${ts}${method}${path}${body}`).digest('hex')
