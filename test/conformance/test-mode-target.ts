import type { Hex } from 'viem'
import { openLog } from '#platform/log'
import { testAusd } from '#shared/chain/chain-id'
import type { ProviderAccount } from '#shared/money/pair'
import { openProviderClient } from '#shared/provider/client'
import { chooseIdentityProvider } from '../../services/gateway/identity/providers/choose'
import { chainSteps } from './chain-steps'
import { identitySteps } from './identity-steps'
import { type TestModeKeys, testModeKeys } from './keys'
import { needsPayer, type PaymentBench, providerOf, until } from './payment-bench'
import { publicRateSuites } from './rates/rate-suites'
import type { Suite, Target, Waiting } from './step'
import { paymentSuites, payoutSuite, payoutsV3NotAsked, withoutKey } from './suites'

type Environment = Readonly<Record<string, string | undefined>>
export type TestModeOptions = {
  /** Time of a payer in ms, or null without a payer. */
  readonly payerMs: number | null
  readonly say: (line: string) => void
  /** Times of the waits, which are shorter in this target's tests. */
  readonly waiting?: Waiting
}

/** Limit of test mode per endpoint and minute. */
const requestsPerMinute = 60
/** Real times of the waits in ms. Failures took up to 3.5 minutes; reversals are documented to arrive within five. */
const realWaiting: Waiting = { deadlineMs: 480_000, everyMs: 5_000 }
const unknownKey = 'xnd_development_conformance_nobody_has_this_key'
const log = openLog('conformance', 'silent')

/** Opens test mode as far as keys are set. Throws `WrongKey` for a live key. */
export async function openTestModeTarget(env: Environment, options: TestModeOptions): Promise<Target> {
  const keys = testModeKeys(env)
  const waiting = options.waiting ?? realWaiting
  const baseUrl = env.XENDIT_URL || 'https://api.xendit.co'
  const open = (account: ProviderAccount, secretKey: string, perMinute = requestsPerMinute) =>
    openProviderClient({ baseUrl, account, secretKey, requestsPerMinute: perMinute, log })
  const suitesOf = (account: ProviderAccount): Suite[] => {
    const key = keys.xendit[account]
    if (!key) return withoutKey(account, `XENDIT_${account}_TEST_KEY`)
    const client = open(account, key)
    const wrongKey = open(account, unknownKey)
    const other = account === 'ID' ? 'MY' : 'ID'
    const otherKey = keys.xendit[other]
    const bench: PaymentBench = {
      account,
      client,
      wrongKey,
      limit: undefined,
      waiting,
      chargeback: undefined,
      forbidSender: undefined,
      neighbour: otherKey ? open(other, otherKey) : undefined,
      open: (perMinute) => open(account, key, perMinute),
      choose: chooser(client, waiting, options),
    }
    const payoutsBy = (api: 'v2' | 'v3') => payoutSuite({ api, client, wrongKey, waiting })
    const v3 = env.PROVIDER_PAYOUTS_API?.startsWith('v3') ? payoutsBy('v3') : payoutsV3NotAsked
    const payouts = account === 'ID' ? [payoutsBy('v2'), v3] : []
    return [...paymentSuites(bench), ...payouts]
  }
  return {
    suites: [
      ...suitesOf('ID'),
      ...suitesOf('MY'),
      ...identitySuites(keys, env),
      ...publicRateSuites(keys.rateSources, env),
      ...chainSuites(env),
    ],
    secrets: [...keys.secrets, ...rpcUrlsOf(env)],
    [Symbol.asyncDispose]: async () => {},
  }
}

const rpcUrlsOf = (env: Environment): string[] =>
  (env.RPC_URLS ?? '')
    .split(',')
    .map((url) => url.trim())
    .filter(Boolean)

/** Returns suites named by place, because an endpoint's path may contain a key. */
function chainSuites(env: Environment): Suite[] {
  const urls = rpcUrlsOf(env)
  if (urls.length === 0) return [{ name: 'chain', steps: [], skipped: 'RPC_URLS is not set' }]
  const chainId = Number(env.CHAIN_ID || '10143')
  const ausd = (env.AUSD_ADDRESS || testAusd) as Hex
  return urls.map((url, at) => ({
    name: `chain: endpoint ${at + 1}`,
    steps: chainSteps({ url, chainId, ausd, log }),
  }))
}

const chooser =
  (client: PaymentBench['client'], waiting: Waiting, { payerMs, say }: TestModeOptions): PaymentBench['choose'] =>
  async ({ checkoutId, checkoutUrl }, channel) => {
    if (payerMs === null) throw needsPayer()
    say(`pay through ${channel}, within ${Math.round(payerMs / 60_000)} minutes: ${checkoutUrl}`)
    const read = () => providerOf(client).findCheckout(client.account, checkoutId)
    const seen = await until(
      { deadlineMs: payerMs, everyMs: waiting.everyMs },
      read,
      (found) => found?.status !== 'open' || found.paymentRequestId !== null,
    )
    if (!seen?.paymentRequestId) throw needsPayer()
  }

function identitySuites({ sumsub, persona }: TestModeKeys, env: Environment): Suite[] {
  const suite = (
    name: 'sumsub' | 'persona',
    url: string,
    api: { appToken: string; secretKey: string; level: string } | { missing: string[] },
  ): Suite => {
    if ('missing' in api) return { name: `identity: ${name}`, steps: [], skipped: `${api.missing.join(', ')} not set` }
    const open = (secretKey: string) =>
      chooseIdentityProvider(
        {
          identityProvider: name,
          identityApiUrl: url,
          identityAppToken: api.appToken,
          identitySecretKey: secretKey,
          identityWebhookSecrets: [],
          identityLevel: api.level,
        },
        Date.now,
      )
    const provider = open(api.secretKey)
    const bench = {
      provider,
      wrongKey: open('wrong-key'),
      deaf: provider,
      hear: undefined,
      resets: name === 'sumsub',
    }
    return { name: `identity: ${name}`, steps: identitySteps(bench) }
  }
  return [
    suite(
      'sumsub',
      env.SUMSUB_URL || 'https://api.sumsub.com',
      'missing' in sumsub
        ? sumsub
        : {
            appToken: sumsub.SUMSUB_APP_TOKEN,
            secretKey: sumsub.SUMSUB_SECRET_KEY,
            level: sumsub.SUMSUB_LEVEL,
          },
    ),
    suite(
      'persona',
      env.PERSONA_URL || 'https://api.withpersona.com',
      'missing' in persona
        ? persona
        : {
            appToken: 'none',
            secretKey: persona.PERSONA_API_KEY,
            level: persona.PERSONA_TEMPLATE_ID,
          },
    ),
  ]
}
