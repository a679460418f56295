import { freshSecret } from '#infra/local/keys'
import { waitUntil } from '#infra/local/wait'
import type { Config } from '#infra/sandbox/config'
import { openSandbox } from '#infra/sandbox/sandbox'
import { openLog } from '#platform/log'
import type { ProviderAccount } from '#shared/money/pair'
import { openProviderClient } from '#shared/provider/client'
import { chooseIdentityProvider } from '../../services/gateway/identity/providers/choose'
import { payoutApis } from '../../services/payouts/provider'
import { actorKeys, deployContracts, fixtureTerms } from '../support/contracts'
import { startAnvil } from '../support/engines/anvil'
import { type ChainBench, chainSteps } from './chain-steps'
import { type Heard, type IdentityBench, identitySteps } from './identity-steps'
import type { PaymentBench } from './payment-bench'
import { localRateSuites } from './rates/rate-suites'
import { openRateWorld } from './rates/rate-world'
import type { Suite, Target, Waiting } from './step'
import { paymentSuites, payoutSuite } from './suites'

const patient: Waiting = { deadlineMs: 60_000, everyMs: 20 }
const log = openLog('conformance', 'silent')

/** Opens the sandbox. `between` may redirect the payment clients; `waiting` sets their timeouts. */
export async function openSandboxTarget(
  between: (url: string) => string = (url) => url,
  waiting = patient,
): Promise<Target> {
  const closing = new AsyncDisposableStack()
  const heard: Heard[] = []
  const gateway = closing.adopt(listen(heard), (server) => server.stop(true))
  const config = configOf(`http://127.0.0.1:${gateway.port}`)
  const sandbox = closing.use(openSandbox(config))
  const world = closing.use(openRateWorld())
  const api = between(sandbox.url)
  const suites = [
    ...(['ID', 'MY'] as const).flatMap((account) =>
      paymentSuites(benchOf({ api, sandbox: sandbox.url }, config, account, waiting)),
    ),
    ...payoutApis.map((payoutApi) =>
      payoutSuite({
        api: payoutApi,
        client: clientOf(api, config.secretKeys.ID, 'ID'),
        wrongKey: clientOf(api, freshSecret(), 'ID'),
        waiting,
      }),
    ),
    identitySuite('sumsub', sandbox.url, config, heard),
    identitySuite('persona', sandbox.url, config, heard),
    ...localRateSuites(world),
    { name: 'chain', steps: chainSteps(await openChain(closing)) },
  ]
  const secrets = [...Object.values(config.secretKeys), config.identity.secretKey]
  return { suites, secrets, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

/** Opens a chain with the token, as in local stacks. */
async function openChain(closing: AsyncDisposableStack): Promise<ChainBench> {
  const { rpcUrl } = closing.use(await startAnvil(['--slots-in-an-epoch', '1']))
  const { admin: adminKey, treasury: treasuryKey } = actorKeys
  const terms = { ...fixtureTerms, adminKey, treasuryKey, relayers: [], verifiers: [] }
  const { ausd } = await deployContracts({ ...terms, rpcUrl })
  return { url: rpcUrl, chainId: 10_143, ausd, log }
}

/** Receives webhooks, unchanged, in place of the gateway. */
const listen = (heard: Heard[]) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      heard.push({ body: await request.bytes(), headers: request.headers })
      return Response.json({})
    },
  })

const configOf = (gatewayUrl: string): Config => ({
  host: '127.0.0.1',
  port: 0,
  publicUrl: null,
  bookPath: null,
  referenceApp: null,
  rpcUrl: null,
  gatewayUrl,
  appUrl: 'https://app.example.org/',
  secretKeys: { ID: freshSecret('xnd_development_'), MY: freshSecret('xnd_development_') },
  callbackTokens: { ID: freshSecret(), MY: freshSecret() },
  identity: {
    provider: 'sumsub',
    level: 'basic-kyc-level',
    webhookSecret: freshSecret(),
    appToken: freshSecret('sbx:'),
    secretKey: freshSecret(),
  },
  eventsSecrets: [],
  webhookRetryScale: 0.001,
  payoutSettleMs: 400,
  feeBps: 0,
  floatIdrMinor: 1_000_000_000_000n,
})

const clientOf = (baseUrl: string, secretKey: string, account: ProviderAccount, requestsPerMinute = 60_000) =>
  openProviderClient({ baseUrl, secretKey, account, requestsPerMinute, log })

function benchOf(
  { api, sandbox }: { api: string; sandbox: string },
  { secretKeys }: Config,
  account: ProviderAccount,
  waiting: Waiting,
): PaymentBench {
  const open = (requestsPerMinute: number) => clientOf(api, secretKeys[account], account, requestsPerMinute)
  const other = account === 'ID' ? 'MY' : 'ID'
  return {
    account,
    open,
    client: open(60_000),
    wrongKey: clientOf(api, freshSecret('xnd_development_'), account),
    neighbour: clientOf(api, secretKeys[other], other),
    choose: async (checkout, channel_code) => {
      await control(sandbox, `sessions/${checkout.checkoutId}/choose`, { channel_code })
    },
    limit: async (which) => {
      const rateLimitRate = { all: 1, stray: 0.999_999, none: 0 }[which]
      await control(sandbox, 'faults', { api: { rateLimitRate } })
    },
    forbidSender: async (on) => {
      await control(sandbox, 'faults', { api: { forbidSender: on ? 1 : 0 } })
    },
    chargeback: async (paymentId) => {
      const made = await control(sandbox, `payments/${paymentId}/chargeback`, {})
      return String((made as { id: unknown }).id)
    },
    waiting,
  }
}

async function control(url: string, path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`${url}/control/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  })
  if (!answer.ok) throw new Error(`the sandbox refused: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

function identitySuite(name: 'sumsub' | 'persona', url: string, { identity }: Config, heard: Heard[]): Suite {
  const open = (over: { secretKey?: string; webhookSecret?: string } = {}) =>
    chooseIdentityProvider(
      {
        identityProvider: name,
        identityApiUrl: url,
        identityAppToken: identity.appToken,
        identitySecretKey: over.secretKey ?? identity.secretKey,
        identityWebhookSecrets: [over.webhookSecret ?? identity.webhookSecret],
        identityLevel: identity.level,
      },
      Date.now,
    )
  const hear: IdentityBench['hear'] = async (wallet, verdict) => {
    const before = heard.length
    await control(url, `identity/${wallet}`, { verdict, provider: name })
    const about = ({ body }: Heard) => new TextDecoder().decode(body).includes(wallet)
    return waitUntil('the webhook', () => heard.slice(before).find(about))
  }
  const others = {
    wrongKey: open({ secretKey: freshSecret() }),
    deaf: open({ webhookSecret: freshSecret() }),
  }
  const bench = { provider: open(), ...others, hear, resets: name === 'sumsub' }
  return { name: `identity: ${name}`, steps: identitySteps(bench) }
}
