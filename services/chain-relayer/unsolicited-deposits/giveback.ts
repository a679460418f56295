import { type Handler, handler } from '#platform/bus/serve'
import type { Db, Tx } from '#platform/db/open'
import { failpoint } from '#platform/failpoint'
import { idle, type Loop, startLoop } from '#platform/loop'
import { GivebackOrder } from '#shared/messages/chain'
import type { WorthOf } from '#shared/messages/operator-commands'
import { unknownWorth } from '#shared/operators/may-perform'
import { ok } from '#shared/refusals'
import { isAuthorizationUsed, nameOf } from '../chain/authorization'
import type { Context } from '../context'
import { isAttempt } from '../lanes/lane.store'
import { orderOf, type PayloadOf } from '../operations/operation'
import { findOperation, insertOperation } from '../operations/operation.store'
import { findTakesBy, lockWallet } from '../operations/wallet.store'
import { type Arrival, type ArrivalFacts, givebackNonce, refusalOf } from './arrival'
import { readArrival } from './deposit'
import { decideRequest, findAsked, type GivebackDecision, type GivebackRequest, recordRequest } from './request.store'

const orderFor = ({ txHash, logIndex, wallet, ausdMicro, nonce }: Arrival) =>
  orderOf({
    kind: 'giveback',
    payload: { txHash, logIndex, wallet, ausd: String(ausdMicro), nonce },
  })

async function rowFacts(db: Db, arrival: Arrival): Promise<Omit<ArrivalFacts, 'isUsed'>> {
  const takes = await findTakesBy(db, arrival)
  return {
    takes: takes.map(({ state, payload: { payoutId, authorization } }) => ({
      payoutId,
      state,
      valueMicro: BigInt(authorization.value),
    })),
    isOurs: await isAttempt(db, arrival.txHash),
    giveback: await findOperation(db, orderFor(arrival).id),
  }
}

async function isUsed(context: Context, arrival: Arrival): Promise<boolean> {
  const from = context.treasury.address
  const terms = { from, nonce: givebackNonce(nameOf(arrival)) }
  return isAuthorizationUsed(context, terms, await context.node.finalizedHead())
}

export const answerGivebacks = (context: Context): Handler =>
  handler(
    GivebackOrder,
    async ({ txHash, logIndex, by: askedBy, reason }) => {
      const asked = { txHash, logIndex, askedBy, reason }
      const known = await context.database.transaction((tx) => recordRequest(tx, asked))
      if (!known) return ok({ done: `giveback of ${nameOf(asked)} requested, decision pending` })
      const at = known.askedAt.toISOString()
      return ok({
        done: `already requested at ${at} by ${known.askedBy}: ${nameOf(asked)} is ${known.state}`,
      })
    },
    worthOfReturn(context),
  )

/** Counts the AUSD of a transfer. The sum is unknown until the transfer is final. */
const worthOfReturn =
  (context: Context): WorthOf<typeof GivebackOrder> =>
  async (name) => {
    const read = await readArrival(context, name)
    if (read === 'unsettled' || 'refused' in read) return unknownWorth
    return { micro: read.arrival.ausdMicro, to: read.arrival.wallet, seen: '' }
  }

const rowsMax = 64

export async function takeUpRequests(context: Context): Promise<number> {
  const asked = await context.database.read((db) => findAsked(db, rowsMax))
  for (const request of asked)
    await takeUp(context, request).catch((err) => {
      const isLong = context.clock() - request.askedAt.getTime() > context.settings.oldestAlarmMs
      const fields = { transfer: nameOf(request), err }
      context.logThrottled[isLong ? 'alarm' : 'warn']('giveback', fields, 'giveback check failed, will retry')
    })
  return asked.length
}

/**
 * Decides a request, in one of several instances. It locks the wallet, so that no take of the same AUSD is accepted at
 * the same time.
 */
async function takeUp(context: Context, request: GivebackRequest): Promise<void> {
  const read = await readArrival(context, request)
  if (read === 'unsettled') return
  if ('refused' in read) {
    const refused = { state: 'refused', refusal: read.refused } as const
    const decide = (tx: Tx) => decideRequest(tx, request.id, null, refused)
    if (await context.database.transaction(decide)) recordRefusal(context, request, read.refused)
    return
  }
  const { arrival } = read
  const spent = await isUsed(context, arrival)
  const order = orderFor(arrival)
  const decided = await context.database.transaction(async (tx) => {
    // guard: a giveback waits for a take of its wallet that is being stored
    lockWallet(tx, arrival.wallet)
    const facts = { ...(await rowFacts(tx, arrival)), isUsed: spent }
    const refusal = refusalOf(facts, arrival.ausdMicro)
    const decision: GivebackDecision =
      refusal === undefined ? { state: 'ordered', operationId: order.id } : { state: 'refused', refusal }
    if (!(await decideRequest(tx, request.id, arrival.wallet, decision))) return undefined
    if (refusal === undefined && !(await insertOperation(tx, order)))
      throw new Error(`giveback ${order.cause} was already ordered`)
    return decision
  })
  if (!decided) return
  if (decided.state === 'refused') return recordRefusal(context, request, decided.refusal)
  failpoint('chain-relayer:operation-stored')
  const { wallet, ausdMicro } = arrival
  const fields = { transfer: order.cause, wallet, ausdMicro: String(ausdMicro) }
  context.log.info({ ...fields, operationId: order.id, by: request.askedBy }, 'giveback ordered by operator')
  context.wake()
}

const recordRefusal = ({ log }: Context, request: GivebackRequest, refusal: string) =>
  log.warn({ transfer: nameOf(request), refusal, by: request.askedBy }, 'giveback ordered by operator refused')

/** Verifies right before signing that the AUSD is still unexplained. */
export async function checkOwed(
  context: Context,
  { wallet, ausd, ...name }: PayloadOf<'giveback'>,
): Promise<'owed' | 'unsettled' | 'doubtful'> {
  const read = await readArrival(context, name)
  if (read === 'unsettled') return read
  const why = 'refused' in read ? read.refused : await differs(read.arrival)
  if (why === undefined) return 'owed'
  const fields = { transfer: nameOf(name), why }
  context.logThrottled.alarm('owed', fields, 'giveback no longer owed')
  return 'doubtful'

  async function differs(arrival: Arrival): Promise<string | undefined> {
    if (arrival.wallet !== wallet || String(arrival.ausdMicro) !== ausd)
      return 'the chain has another transfer at this log'
    const facts = await context.database.read((db) => rowFacts(db, arrival))
    return refusalOf({ ...facts, giveback: undefined, isUsed: false }, arrival.ausdMicro)
  }
}

const everyMs = 2_000
const idleMs = 5_000

export const startGivebacks = (context: Context): Loop =>
  startLoop({
    name: 'givebacks',
    everyMs,
    idleMs,
    log: context.log,
    work: async () => ((await takeUpRequests(context)) === 0 ? idle : undefined),
  })
