import type { IdentityProvider, Statement } from '../../services/gateway/identity/provider'
import { faultOf, left, NotHere, type Step } from './step'

/** A webhook as received, byte for byte. */
export type Heard = { readonly body: Uint8Array; readonly headers: Headers }

export type IdentityBench = {
  readonly provider: IdentityProvider
  /** A client with a wrong API secret. */
  readonly wrongKey: IdentityProvider
  /** A client with another webhook secret. */
  readonly deaf: IdentityProvider
  /** Waits for a webhook; undefined where none can arrive. */
  readonly hear: ((wallet: `0x${string}`, verdict: 'approved' | 'reset') => Promise<Heard>) | undefined
  readonly resets: boolean
}

const noWebhook = () =>
  new NotHere('needs a public address: approve an applicant in the dashboard, see infra/README.md')

export function identitySteps(bench: IdentityBench): Step[] {
  // The wallet is random, so that no applicant repeats.
  const wallet = `0x${'0'.repeat(8)}${crypto.randomUUID().replaceAll('-', '')}` as const
  return [...questionSteps(bench, wallet), ...linkSteps(bench, wallet), ...webhookSteps(bench, wallet)]
}

const questionSteps = ({ provider, wrongKey }: IdentityBench, wallet: `0x${string}`): Step[] => [
  {
    name: 'an unused wallet has no applicant',
    expected: 'nobody',
    see: async () => Object.keys(await provider.lookUp(wallet, new Set())).join(),
  },
  {
    name: 'a wrong secret returns no applicant',
    expected: 'ProviderDown',
    see: () => faultOf(wrongKey.lookUp(wallet, new Set())),
  },
]

const linkSteps = ({ provider, wrongKey }: IdentityBench, wallet: `0x${string}`): Step[] => [
  {
    name: 'a verification link is created',
    expected: 'https, or this machine',
    see: async () => {
      const { protocol, hostname } = new URL((await provider.createLink(wallet)).url)
      const own = protocol === 'https:' || hostname === '127.0.0.1'
      return own ? 'https, or this machine' : protocol
    },
  },
  {
    name: 'a wrong secret creates no link',
    expected: 'ProviderDown',
    see: () => faultOf(wrongKey.createLink(wallet)),
  },
]

const verdictOf = (by: IdentityProvider, { body, headers }: Heard) =>
  'ok' in by.verify(body, headers, Date.now()) ? 'believed' : 'refused'

/** Returns the refs of a statement, so that its applicant counts as one that we created. */
const ownRefs = ({ providerRef }: Statement) => new Set(providerRef ? [providerRef] : [])

function webhookSteps({ provider, deaf, hear, resets }: IdentityBench, wallet: `0x${string}`): Step[] {
  let heard: Heard | undefined
  const resetStep: Step = {
    name: 'a reset withdraws the verdict, whatever environment it names',
    expected: 'reset',
    fact: 'identity-sparse',
    see: async () => {
      if (!hear) throw noWebhook()
      const { body } = await hear(wallet, 'reset')
      const read = provider.parse(new TextDecoder().decode(body))
      return 'statement' in read ? read.statement.word : Object.keys(read).join()
    },
  }
  return [
    {
      name: 'its webhook is accepted',
      expected: 'believed',
      see: async () => {
        if (!hear) throw noWebhook()
        heard = await hear(wallet, 'approved')
        return verdictOf(provider, heard)
      },
    },
    {
      name: 'the same webhook with one byte changed is refused',
      expected: 'refused',
      see: async () => {
        if (!hear) throw noWebhook()
        const { body, headers } = left(heard, 'webhook')
        const changed = body.slice()
        changed[changed.length - 2]! ^= 1
        return verdictOf(provider, { body: changed, headers })
      },
    },
    {
      name: 'under another secret it is refused',
      expected: 'refused',
      see: async () => {
        if (!hear) throw noWebhook()
        return verdictOf(deaf, left(heard, 'webhook'))
      },
    },
    {
      name: 'a lookup of the wallet returns the verdict and time of the webhook',
      fact: 'identity-times',
      expected: 'approved, this wallet, sandbox, this level, within a second',
      see: async () => {
        if (!hear) throw noWebhook()
        const told = provider.parse(new TextDecoder().decode(left(heard, 'webhook').body))
        if (!('statement' in told)) return 'fault' in told ? told.fault : 'without a time'
        const finding = await provider.lookUp(wallet, ownRefs(told.statement))
        if (!('statement' in finding)) return Object.keys(finding).join()
        const { word, subjectRef, sandbox, level, occurredAtMs } = finding.statement
        const apartMs = told.statement.occurredAtMs - occurredAtMs
        return [
          word,
          subjectRef === wallet ? 'this wallet' : 'another wallet',
          sandbox ? 'sandbox' : 'production',
          level === told.statement.level ? 'this level' : 'another level',
          apartMs >= 0 && apartMs < 1_000 ? 'within a second' : `${apartMs} ms apart`,
        ].join(', ')
      },
    },
    {
      name: 'the approved person has no other wallet',
      fact: 'identity-persons',
      expected: 'no other wallet',
      see: async () => {
        if (!hear) throw noWebhook()
        const told = provider.parse(new TextDecoder().decode(left(heard, 'webhook').body))
        const ref = 'statement' in told && told.statement.providerRef
        if (!ref) return 'without an applicant'
        const others = await provider.findSamePerson(wallet, ref, async () => true)
        return others.length === 0 ? 'no other wallet' : `${others.length} other wallets`
      },
    },
    {
      name: 'it approves this wallet and comes from a sandbox',
      expected: 'approved, this wallet, sandbox',
      see: async () => {
        if (!hear) throw noWebhook()
        const read = provider.parse(new TextDecoder().decode(left(heard, 'webhook').body))
        if (!('statement' in read)) return 'fault' in read ? read.fault : 'without a time'
        const { word, subjectRef, sandbox } = read.statement
        const whose = subjectRef === wallet ? 'this wallet' : 'another wallet'
        return `${word}, ${whose}, ${sandbox ? 'sandbox' : 'production'}`
      },
    },
    ...(resets ? [resetStep] : []),
  ]
}
