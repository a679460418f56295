import { generatePrivateKey } from 'viem/accounts'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import { type Person, personOf } from '#infra/demo/person'
import type { StackFile } from '#infra/local/stack-file'
import { waitUntil } from '#infra/local/wait'
import { askNode } from '#infra/sandbox/rpc-proxy/rpc'
import { pause } from '#platform/deadline'

/** Covers the restart of a container, and the 20 s after which another instance takes over the work of a dead one. */
const patienceMs = 180_000
const everyMs = 300

export type TopUpTraffic = {
  /** Waits for more paid top-ups than now. Throws the last error of each user if there are none within two minutes. */
  readonly goesOn: (count: number) => Promise<void>
  /**
   * Opens no more. Throws unless each paid top-up is credited, each user holds exactly their sum, and every block
   * that was final still is.
   */
  readonly credited: () => Promise<{ readonly paid: number; readonly tookMs: number }>
}

/** Lets each user open and pay top-ups in turn, whatever happens to the stack, and notes the final blocks. */
export async function startTopUps(stack: StackFile, users = 3): Promise<TopUpTraffic> {
  const outside = outsideOf(stack)
  const people = Array.from({ length: users }, () => userOf(personOf(stack, generatePrivateKey())))
  await Promise.all(people.map(({ person }) => verified(person, outside)))
  const stop = new AbortController()
  const final = new Map<string, string>()
  const working = people.map((user) => keepPaying(user, outside, stop.signal))
  const all = Promise.all([...working, noteFinalBlocks(stack, final, stop.signal)])
  all.catch(() => {}) // `credited` throws it.
  const paid = () => people.reduce((sum, { paid }) => sum + paid.length, 0)
  return {
    goesOn: async (count) => {
      const before = paid()
      const isMore = () => {
        if (paid() >= before + count) return true
        throw new Error(people.map(({ fault }) => fault).join('; '))
      }
      await waitUntil('more top-ups', isMore, 120_000)
    },
    credited: async () => {
      stop.abort()
      await all
      const startedAt = Date.now()
      await assertKept(stack, final)
      for (const user of people) await untilCredited(user)
      return { paid: paid(), tookMs: Date.now() - startedAt }
    },
  }
}

type PaidTopUp = { readonly id: string; readonly micro: bigint }
/** `fault` is the error of the last step that failed. */
type PayingUser = { readonly person: Person; readonly paid: PaidTopUp[]; fault: string }

const userOf = (person: Person): PayingUser => ({ person, paid: [], fault: 'nothing failed' })

async function verified(person: Person, outside: ExternalControls): Promise<void> {
  await person.me()
  await outside.identity(person.wallet, 'approved')
  await person.until('the verification', (me) => me.verified, patienceMs)
}

async function keepPaying(user: PayingUser, outside: ExternalControls, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const topUp = await patiently(user, 'a checkout', () => opened(user))
    await patiently(user, 'the payment', () => isPaid(topUp, outside))
    user.paid.push(topUp)
    await pause(everyMs, stop)
  }
}

const patiently = <T>(user: PayingUser, what: string, work: () => Promise<T>): Promise<T> =>
  waitUntil(
    what,
    () =>
      work().catch((error) => {
        user.fault = (error as Error).message
        throw error
      }),
    patienceMs,
    everyMs,
  ) as Promise<T>

async function opened(user: PayingUser): Promise<PaidTopUp> {
  const { person } = user
  const quote = await person.post('/quote', { pair: 'USD/IDR' })
  if (quote.status !== 200) throw new Error(`POST /quote: ${quote.status} ${JSON.stringify(quote.body)}`)
  const body = { amount: '50000', method: 'qr', quoteId: quote.body.id }
  // A repeated request means the same top-up until the quote expires.
  const asked = await waitUntil('a response to POST /topups', async () => {
    const answer = await person.post('/topups', body)
    if (answer.status < 500) return answer
    user.fault = `POST /topups: ${answer.status} ${JSON.stringify(answer.body)}`
    return false
  })
  if (asked.status !== 200) throw new Error(`POST /topups: ${asked.status} ${JSON.stringify(asked.body)}`)
  return { id: asked.body.paymentId, micro: BigInt(asked.body.ausd) }
}

/** Pays unless the sandbox recorded the payment before it was killed: a repeated call would pay twice. */
async function isPaid({ id }: PaidTopUp, outside: ExternalControls): Promise<boolean> {
  const { sessions = [] } = await outside.book()
  if (sessions.some((session) => session.reference_id === id && session.status === 'COMPLETED')) return true
  await outside.pay(id, 'QRIS')
  return true
}

type Block = { readonly number: string; readonly hash: string; readonly transactions: readonly string[] }

const blockAt = async ({ chain }: StackFile, at: string): Promise<Block | undefined> => {
  const [reply] = await askNode(chain.rpcUrl, [{ method: 'eth_getBlockByNumber', params: [at, false] }])
  return reply?.result as Block | undefined
}

async function noteFinalBlocks(stack: StackFile, final: Map<string, string>, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const block = await blockAt(stack, 'finalized').catch(() => undefined)
    // A restored chain has no old empty blocks. The first note counts, because a chain that was put back has other
    // blocks under the same numbers.
    if (block && block.transactions.length > 0 && !final.has(block.number)) final.set(block.number, block.hash)
    await pause(50, stop)
  }
}

async function assertKept(stack: StackFile, final: ReadonlyMap<string, string>): Promise<void> {
  const lost: number[] = []
  for (const [number, hash] of final) if ((await blockAt(stack, number))?.hash !== hash) lost.push(Number(number))
  if (lost.length > 0) throw new Error(`final blocks were lost: ${lost.join(', ')}`)
}

async function untilCredited({ person, paid }: PayingUser): Promise<void> {
  const left = new Map(paid.map(({ id }) => [id, 'unknown']))
  const look = async () => {
    for (const id of [...left.keys()]) {
      const { status, body } = await person.get(`/me/activity/${id}`)
      if (status !== 200) throw new Error(`GET /me/activity: ${status}`)
      if (body.status === 'credited') left.delete(id)
      else left.set(id, body.status)
    }
    return left.size === 0
  }
  await waitUntil('every paid top-up being credited', look, patienceMs, everyMs).catch((error: Error) => {
    throw new Error([error.message, ...[...left].map(([id, is]) => `${id} is ${is}`)].join('\n'))
  })
  const { collateral } = await person.me()
  const wanted = paid.reduce((sum, { micro }) => sum + micro, 0n)
  if (BigInt(collateral.value) !== wanted)
    throw new Error(`${person.wallet} paid for ${wanted} micro-AUSD and holds ${collateral.value}`)
}
