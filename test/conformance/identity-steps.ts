import type { IdentityProvider } from '../../services/gateway/identity/provider'
import { faultOf, left, NotHere, type Step } from './step'

/** A webhook as it arrived, byte for byte. */
export type Heard = { readonly body: Uint8Array; readonly headers: Headers }

/** An identity provider, as its suite needs it. */
export type IdentityBench = {
  readonly provider: IdentityProvider
  /** The same, with an API secret that nobody has. */
  readonly wrongKey: IdentityProvider
  /** The same, with another webhook secret. */
  readonly deaf: IdentityProvider
  /** Has a verdict given on the wallet and hears the webhook; undefined where none can arrive. */
  readonly hear:
    | ((wallet: `0x${string}`, verdict: 'approved' | 'reset') => Promise<Heard>)
    | undefined
  /** Whether it can take a verdict back. */
  readonly resets: boolean
}

const noWebhook = () =>
  new NotHere('needs a public address: approve somebody in the dashboard, see infra/README.md')

/**
 * A link for a person, a webhook that is believed exactly when it is the provider's, and the same
 * verdict when the provider is asked.
 */
export function identitySteps(bench: IdentityBench): Step[] {
  // A wallet that nobody has: the last bytes are random, so that no applicant is met twice.
  const wallet = `0x${'0'.repeat(8)}${crypto.randomUUID().replaceAll('-', '')}` as const
  return [
    ...questionSteps(bench, wallet),
    ...linkSteps(bench, wallet),
    ...webhookSteps(bench, wallet),
  ]
}

const questionSteps = ({ provider, wrongKey }: IdentityBench, wallet: `0x${string}`): Step[] => [
  {
    name: 'nobody is known under a wallet that nobody has',
    expected: 'nobody',
    see: async () => Object.keys(await provider.lookUp(wallet)).join(),
  },
  {
    name: 'with a wrong secret nothing is known of anybody',
    expected: 'ProviderDown',
    see: () => faultOf(wrongKey.lookUp(wallet)),
  },
]

const linkSteps = ({ provider, wrongKey }: IdentityBench, wallet: `0x${string}`): Step[] => [
  {
    name: 'a person is given a link',
    expected: 'https, or this machine',
    see: async () => {
      const { protocol, hostname } = new URL(await provider.createLink(wallet))
      const own = protocol === 'https:' || hostname === '127.0.0.1'
      return own ? 'https, or this machine' : protocol
    },
  },
  {
    name: 'with a wrong secret there is no link',
    expected: 'ProviderDown',
    see: () => faultOf(wrongKey.createLink(wallet)),
  },
]

const verdictOf = (by: IdentityProvider, { body, headers }: Heard) =>
  'ok' in by.verify(body, headers, Date.now()) ? 'believed' : 'refused'

function webhookSteps(
  { provider, deaf, hear, resets }: IdentityBench,
  wallet: `0x${string}`,
): Step[] {
  let heard: Heard | undefined
  const resetStep: Step = {
    name: 'a reset takes the verdict back, whatever environment it names or leaves out',
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
      name: 'its webhook is believed',
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
      name: 'asked about the wallet, the provider says what the webhook said, of the same moment',
      fact: 'identity-times',
      expected: 'approved, this wallet, sandbox, this level, within a second',
      see: async () => {
        if (!hear) throw noWebhook()
        const told = provider.parse(new TextDecoder().decode(left(heard, 'webhook').body))
        if (!('statement' in told)) return 'fault' in told ? told.fault : 'without a time'
        const finding = await provider.lookUp(wallet)
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
      name: 'it says that this wallet is approved, and that it was made in a sandbox',
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
