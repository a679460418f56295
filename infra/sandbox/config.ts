import type { Account } from './account'
import type { IdentityProvider } from './records'

/** Settings of the sandbox. Durations are in ms; a `publicUrl` of null means the listening address. */
export type Config = {
  readonly host: string
  readonly port: number
  readonly publicUrl: string | null
  readonly gatewayUrl: string
  readonly appUrl: string
  /** Addresses as a browser reaches them; null if this sandbox has no reference app. */
  readonly referenceApp: { readonly gatewayUrl: string; readonly rpcUrl: string } | null
  readonly bookPath: string | null
  readonly rpcUrl: string | null
  readonly secretKeys: Record<Account, string>
  readonly callbackTokens: Record<Account, string>
  readonly identity: {
    readonly provider: IdentityProvider
    readonly webhookSecret: string
    readonly level: string
    readonly appToken: string
    readonly secretKey: string
  }
  /** Secrets of the events that it receives, `whsec_<base64>`; none if it receives none. */
  readonly eventsSecrets: readonly string[]
  readonly webhookRetryScale: number
  readonly payoutSettleMs: number
  /** Fee on each payment and payout, in basis points before tax. */
  readonly feeBps: number
  /** Opening balance of the Indonesian account, in rupiah. */
  readonly floatIdrMinor: bigint
}

type Env = Record<string, string | undefined>

export function loadConfig(env: Env = process.env): Config {
  const faults: string[] = []
  const read = readerOf(env, faults)
  const provider = read.text('IDENTITY_PROVIDER', 'sumsub')
  if (provider !== 'sumsub' && provider !== 'persona') {
    faults.push('IDENTITY_PROVIDER: must be sumsub or persona')
  }
  const config: Config = {
    host: read.text('HOST', '127.0.0.1'),
    port: read.number('PORT', 3100, 65_535),
    publicUrl: env.PUBLIC_URL ? read.url('PUBLIC_URL') : null,
    gatewayUrl: read.url('GATEWAY_URL'),
    appUrl: read.url('APP_URL'),
    referenceApp: env.APP_GATEWAY_URL
      ? { gatewayUrl: read.url('APP_GATEWAY_URL'), rpcUrl: read.url('APP_RPC_URL') }
      : null,
    bookPath: env.SANDBOX_BOOK || null,
    rpcUrl: env.RPC_URL ? read.url('RPC_URL') : null,
    secretKeys: {
      ID: read.text('PROVIDER_ID_SECRET_KEY'),
      MY: read.text('PROVIDER_MY_SECRET_KEY'),
    },
    callbackTokens: {
      ID: read.text('PAYMENTS_CALLBACK_TOKEN_ID'),
      MY: read.text('PAYMENTS_CALLBACK_TOKEN_MY'),
    },
    identity: {
      provider: provider === 'persona' ? 'persona' : 'sumsub',
      webhookSecret: read.text('IDENTITY_WEBHOOK_SECRET'),
      level: read.text('IDENTITY_LEVEL', 'basic-kyc-level'),
      appToken: read.text('IDENTITY_APP_TOKEN', provider === 'persona' ? 'none' : undefined),
      secretKey: read.text('IDENTITY_SECRET_KEY'),
    },
    eventsSecrets: (env.EVENTS_SECRETS ?? '').split(',').filter(Boolean),
    webhookRetryScale: read.number('WEBHOOK_RETRY_SCALE', 1, 1_000),
    payoutSettleMs: read.number('PAYOUT_SETTLE_MS', 1_000, 86_400_000),
    feeBps: read.number('FEE_BPS', 0, 10_000),
    floatIdrMinor: BigInt(Math.floor(read.number('SANDBOX_FLOAT_IDR', 1e12, 1e14) || 0)),
  }
  if (config.secretKeys.ID === config.secretKeys.MY && config.secretKeys.ID !== '') {
    faults.push('PROVIDER_MY_SECRET_KEY: must differ from PROVIDER_ID_SECRET_KEY')
  }
  if (faults.length > 0) throw new Error(`sandbox is misconfigured\n  ${faults.join('\n  ')}`)
  return config
}

function readerOf(env: Env, faults: string[]) {
  const text = (name: string, otherwise?: string): string => {
    const value = env[name] || otherwise
    if (value === undefined) faults.push(`${name}: is missing`)
    return value ?? ''
  }
  return {
    text,
    number(name: string, otherwise: number, max: number): number {
      const value = Number(env[name] || otherwise)
      if (!(value >= 0 && value <= max)) faults.push(`${name}: must be a number from 0 to ${max}`)
      return value
    },
    url(name: string): string {
      const value = text(name)
      const valid = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
      if (value && !valid) faults.push(`${name}: must be an http or https URL`)
      return value.replace(/\/+$/, '')
    },
  }
}
