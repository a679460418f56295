import { Type } from 'typebox'
import { openLog } from '#platform/log'
import type { ProviderAccount } from '#shared/money/pair'
import { readBalance } from '#shared/provider/balance'
import { openProviderClient, type ProviderClient } from '#shared/provider/client'
import { WireSession } from '../../services/payments/providers/xendit/wire'
import { xenditPayouts } from '../../services/payouts/providers/xendit/client'
import { liveKeys } from './keys'
import { NotHere, type Step, type Suite, type Target } from './step'

type Environment = Readonly<Record<string, string | undefined>>

/** Calls per minute and endpoint: a tenth of the provider's limit, because the services may be running. */
const requestsPerMinute = 60
const log = openLog('conformance', 'silent')

const noSession = `ps-${'0'.repeat(24)}`
const Page = Type.Object({ has_more: Type.Boolean(), data: Type.Array(Type.Object({ id: Type.String() })) })

/** Opens the live accounts as far as keys are set. No step writes. Throws `WrongKey` for a key that is not live. */
export async function openLiveTarget(env: Environment): Promise<Target> {
  const baseUrl = env.XENDIT_URL || 'https://api.xendit.co'
  const { keys, names, secrets } = liveKeys(env, baseUrl)
  const suiteOf = (account: ProviderAccount): Suite => {
    const name = `live: account ${account}`
    const secretKey = keys[account]
    if (!secretKey) return { name, steps: [], skipped: `${names[account]} is not set` }
    const client = readingOnly(openProviderClient({ baseUrl, account, secretKey, requestsPerMinute, log }))
    return { name, steps: liveSteps(client) }
  }
  return { suites: [suiteOf('ID'), suiteOf('MY')], secrets, [Symbol.asyncDispose]: async () => {} }
}

/** Returns a client that cannot write, whatever a step does. */
const readingOnly = (client: ProviderClient): ProviderClient => ({
  ...client,
  post: () => {
    throw new Error('--live-read-only makes no call that writes')
  },
})

/** Returns what the refusal says, for an operator who looks up the permission of the key. */
const refusedText = ({ status, code }: { status: number; code: string }) => `refused: ${status} ${code}`

/** A provider that cannot be read is a fault of the key, the address or the account, and the sentence says which. */
const seenBy = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'read',
    (error: Error) => error.message,
  )

function liveSteps(client: ProviderClient): Step[] {
  const { account } = client
  const steps: Step[] = [
    {
      name: 'the balance can be read, for which the key needs Balance Read',
      expected: 'read',
      see: () => seenBy(readBalance(client)),
    },
    {
      name: 'a row of the list of transactions can be read, for which the key needs Transaction Read',
      expected: 'read',
      see: async () => {
        const answer = await client.get('/transactions?limit=1', { schema: Page })
        return 'ok' in answer ? 'read' : refusedText(answer.refused)
      },
    },
    {
      name: 'a session that does not exist is not found, for which the key needs Money-in Read',
      expected: '404 not_found',
      see: async () => {
        const answer = await client.get(`/sessions/${noSession}`, { schema: WireSession })
        return 'ok' in answer ? 'found' : `${answer.refused.status} ${answer.refused.meaning}`
      },
    },
    {
      name: 'the topics and tokens of webhooks are those of the runbook',
      expected: 'confirmed',
      see: async () => {
        // docs.xendit.co/apidocs/set-webhook-url: the only endpoint for webhooks sets URLs, of the legacy APIs alone.
        throw new NotHere('no endpoint reads them: compare them in the dashboard, and see `ops doctor`')
      },
    },
  ]
  return account === 'ID' ? [...steps, ...payoutSteps(client)] : steps
}

const payoutSteps = (client: ProviderClient): Step[] => [
  {
    name: 'the list of banks can be read and is not empty, for which the key needs Money-out Read',
    expected: 'read',
    see: () =>
      seenBy(
        xenditPayouts(client)
          .listChannels()
          .then((banks) => {
            if (banks.length === 0) throw new Error('the list is empty')
          }),
      ),
  },
]
