import { drainMicrotasks } from 'bun:jsc'
import { handle } from '#platform/bus/handling'
import { messageIdFor } from '#shared/ids'
import { difference, unbalanced } from '#shared/ledger/position'
import * as relay from '#shared/messages/relay'
import type { PayoutStatus } from '#shared/provider/payout'
import { ProviderUnknown } from '#shared/provider/problem'
import { defaultsOf } from '#test/support/settings'
import { assemble, type Means, messagesOf } from '../../../services/payouts/assemble'
import { insertCashout } from '../../../services/payouts/cashout.store'
import type { Cashout } from '../../../services/payouts/cashout.table'
import { fields } from '../../../services/payouts/config'
import { startRechecking } from '../../../services/payouts/incoming/recheck'
import { positionOf } from '../../../services/payouts/ledger/position'
import { repeatTake } from '../../../services/payouts/onchain/advance'
import type { Evidence, PayoutApi } from '../../../services/payouts/provider'
import { journal, messaging, outbox } from '../../../services/payouts/schema.store'
import { bookedOf } from '../rows/journal'
import { lastRound } from '../world/loops'
import {
  acknowledgeUnseen,
  type Common,
  commonSteps,
  forgetCopies,
  incoming,
  nameTwins,
  post,
  publish,
  type Step,
} from './messages'
import type { Model } from './search'
import { keyOf, type Moment, noLog, type Reach, Stage } from './state'

const id = '7f9c24e8-3b1a-8d52-9e0f-1c2d3e4f5a6b'
const wallet = `0x${'ab'.repeat(20)}` as const
const fiatMinor = 81_250n
const ausdMicro = 5_000_000n

/** A paid cash-out is at its end. */
const config = { ...defaultsOf('payouts', fields), reversalWatchMs: 0 }

type Payout = { readonly id: string; readonly status: PayoutStatus }
type Outside = Common & {
  /** Number of orders that were sent to the bank and have no response. */
  onTheWay: number
  payouts: Payout[]
  orders: { id: string; subject: string; isDone: boolean }[]
  isTaken: boolean
  returned: number
  faults: number
  refusals: number
}

export type Terms = {
  readonly crashes: number
  readonly overtakes: number
  /** Number of calls without a response: not executed, executed, or executed later. */
  readonly faults: number
  readonly refusals: number
  /** True if every webhook is delivered twice. */
  readonly isTwice: boolean
  readonly reverses: boolean
}

const resting = ['paid', 'failed', 'returned']

export function cashoutModel(terms: Terms): Model<Moment<Outside>> {
  const stage = new Stage<Outside>((outside) => ({
    ...outside,
    left: { ...outside.left },
    messages: [...outside.messages],
    orders: [...outside.orders],
    payouts: [...outside.payouts],
  }))
  stage.rows.outbox(outbox)
  for (const table of [...Object.values(messaging), journal]) stage.rows.of(table)
  const row = () => stage.rows.cashouts.get(id)!

  const evidenceOf = ({ id: payoutId, status }: Payout): Evidence => ({
    payoutId,
    referenceId: id,
    status,
    word: status,
    failureCode: null,
    reason: null,
    amountMinor: fiatMinor,
    currency: 'IDR',
  })
  /** Orders a payout; an idempotency key makes only one. */
  const order = (): Payout => {
    const { outside } = stage
    const [known] = outside.payouts
    if (known) return known
    const made: Payout = { id: 'disb-1', status: 'pending' }
    outside.payouts.push(made)
    return made
  }
  const create = () => {
    const { outside } = stage
    const ways: (() => unknown)[] = [() => ({ ok: evidenceOf(order()) })]
    const silent = () => {
      outside.faults -= 1
      throw new ProviderUnknown('no answer')
    }
    if (outside.faults > 0)
      ways.push(
        silent,
        () => {
          order()
          silent()
        },
        () => {
          outside.onTheWay += 1
          silent()
        },
      )
    if (outside.refusals > 0 && outside.payouts.length === 0)
      ways.push(() => {
        outside.refusals -= 1
        return { refused: { code: 'CHANNEL_UNAVAILABLE', meaning: 'channel_unavailable' } }
      })
    return ways[stage.choose(ways.length)]!()
  }

  const contextOf = (reach: Reach) => {
    const means = {
      database: stage.database(reach),
      log: noLog,
      poke: () => {},
      provider: {
        apis: ['v2'],
        statusOf: (word: string) => word,
        create: () => reach(create),
        find: (payoutId: string) =>
          reach(() => {
            const found = stage.outside.payouts.find((one) => one.id === payoutId)
            return found && evidenceOf(found)
          }),
        findByReference: async (_: string, api: PayoutApi) =>
          api === 'v2' ? reach(() => stage.outside.payouts.map(evidenceOf)) : [],
        readDelivery: (body: string) => JSON.parse(body),
      },
      safe: { open: () => ({ accountNumber: '12345678', accountHolderName: 'Sari Dewi' }) },
      clock: () => stage.nowMs,
    }
    return assemble(config, means as unknown as Means)
  }

  const advance = (at: number) => {
    const task = stage.tasks[at]!
    const { about } = task
    stage.advance(at, (reach) => {
      const context = contextOf(reach)
      if (about === 'sweep') {
        const rechecking = startRechecking(context, { recheckEveryMs: 1_000 })
        return lastRound()
          .then(() => rechecking[Symbol.asyncDispose]())
          .then(() => 'done')
      }
      const posted = stage.outside.messages.find((one) => one.id === about)!
      return handle(messagesOf(context), incoming(posted))
    })
  }

  const tell = (status: PayoutStatus) => {
    for (let time = 1; time <= (terms.isTwice ? 2 : 1); time++) {
      const deliveryId = `${status} ${time}`
      const body = JSON.stringify({ about: 'payout', payoutId: 'disb-1' })
      const receivedAt = new Date(stage.nowMs).toISOString()
      const payload = { account: 'ID', deliveryId, receivedAt, body }
      const twin = time > 1 ? `${status} ${time - 1}` : undefined
      post(stage.outside, { id: deliveryId, subject: `webhooks.payments.ID.${status}`, twin }, payload)
    }
  }

  const carryOut = (place: number, isDone: boolean) => {
    const { outside } = stage
    const { subject } = outside.orders[place]!
    const kind = subject === relay.TakeOrdered.subject ? 'take' : 'return'
    if (isDone && kind === 'take') outside.isTaken = true
    if (isDone && kind === 'return') outside.returned += 1
    outside.orders[place] = { ...outside.orders[place]!, isDone: true }
    const topic = isDone ? relay.relaySettled(kind) : relay.relayFailed(kind)
    const payload = {
      operationId: 'op',
      cause: id,
      wallet,
      reason: 'balance_too_low',
      txHash: `0x${'11'.repeat(32)}`,
      blockNumber: '7',
    }
    post(outside, { id: messageIdFor(topic, id), subject: topic.subject }, payload)
  }

  const isNoted = (moment: Moment<Outside>) => (messageId: string) => {
    stage.load(moment)
    return stage.rows.of(messaging.inbox).has(`payouts ${messageId}`)
  }

  // Messages are published at once, as in the walk of a payment.
  stage.settle = () => {
    acknowledgeUnseen(stage)
    forgetCopies(stage)
    nameTwins(stage, stage.rows.of(messaging.inbox), 'payouts')
    for (const { id: messageId, subject } of publish(stage, outbox, followed)) {
      const { orders } = stage.outside
      if (orders.some((one) => one.subject === subject)) continue
      orders.push({ id: messageId, subject, isDone: false })
      orders.sort((left, right) => (left.subject < right.subject ? -1 : 1))
    }
  }

  const stepsFrom = (moment: Moment<Outside>): Step<Outside>[] => {
    const found = commonSteps(stage, moment, advance, isNoted(moment))
    const take = (step: string, act: () => void) => {
      stage.load(moment)
      act()
      found.push({ step, to: stage.save() })
    }
    const { outside, tasks } = moment
    for (const [place, { subject, isDone }] of outside.orders.entries()) {
      if (isDone) continue
      take(`${subject} is done on the chain`, () => carryOut(place, true))
      if (subject === relay.TakeOrdered.subject) take(`${subject} cannot be done`, () => carryOut(place, false))
    }
    if (outside.onTheWay > 0)
      take('an order without a response arrives at the bank', () => {
        stage.outside.onTheWay -= 1
        order()
      })
    for (const [place, { status }] of outside.payouts.entries()) {
      const becomes = (next: PayoutStatus) =>
        take(`the bank reports ${next}`, () => {
          stage.outside.payouts[place] = { ...stage.outside.payouts[place]!, status: next }
          tell(next)
        })
      if (status === 'pending') {
        becomes('succeeded')
        becomes('refused')
      }
      if (status === 'succeeded' && terms.reverses) becomes('reversed')
    }
    stage.load(moment)
    const { nextCheckAt } = row()
    const isDue = nextCheckAt !== null && nextCheckAt.getTime() <= stage.nowMs
    if (isDue && tasks.filter(({ about }) => about === 'sweep').length < 2)
      for (const copy of [0, 1])
        if (!tasks.some((task) => task.about === 'sweep' && task.copy === copy))
          if (copy === 0 || tasks.length > 0)
            take(`instance ${copy} runs the due checks`, () => {
              stage.tasks.push({ copy, about: 'sweep', said: [] })
            })
    // An order in transit arrives before it is considered lost.
    const isQuiet = tasks.length === 0 && outside.messages.every(({ isDone }) => isDone)
    const isSaid = outside.orders.every(({ isDone }) => isDone)
    if (isQuiet && isSaid && nextCheckAt !== null && !isDue) {
      const pass = (name: string, ms: number) =>
        take(`${name} pass`, () => {
          const { attemptedAt, updatedAt } = row()
          const before = (time: Date) => new Date(Math.min(time.getTime(), stage.nowMs - ms))
          const times = { nextCheckAt: stage.rows.now(), updatedAt: before(updatedAt), checks: 0 }
          stage.rows.cashouts.update(id, {
            ...times,
            attemptedAt: attemptedAt && before(attemptedAt),
          })
        })
      pass('six seconds', 6_000)
      if (outside.onTheWay === 0) pass('two minutes', 120_000)
    }
    return found
  }

  return {
    start: begin(stage, terms),
    keyOf,
    stepsFrom,
    wrongIn: (moment) => {
      stage.load(moment)
      return wrongIn(stage, row())
    },
    isEnd: (moment) => {
      stage.load(moment)
      const { messages, orders, onTheWay } = moment.outside
      const isQuiet = messages.every(({ isDone }) => isDone) && orders.every(({ isDone }) => isDone)
      const isOver = isQuiet && moment.tasks.length === 0
      return isOver && onTheWay === 0 && resting.includes(row().state)
    },
  }
}

const followed: readonly string[] = [relay.TakeOrdered.subject, relay.ReturnOrdered.subject]

function begin(stage: Stage<Outside>, terms: Terms): Moment<Outside> {
  const { crashes, overtakes, faults, refusals } = terms
  stage.outside = {
    messages: [],
    left: { crashes, overtakes, doubles: 0 },
    orders: [],
    payouts: [],
    onTheWay: 0,
    isTaken: false,
    returned: 0,
    faults,
    refusals,
  }
  const authorization = {
    from: wallet,
    to: wallet,
    value: String(ausdMicro),
    validAfter: '0',
    validBefore: '9999999999',
    nonce: `0x${'07'.repeat(32)}` as const,
    signature: `0x${'22'.repeat(65)}` as const,
  }
  const cashout = {
    id,
    wallet,
    state: 'taking',
    rateMinorPerUsd: 16_250n,
    ausdMicro,
    fiatMinor,
    quoteId: 'q',
    requestFingerprint: 't',
    authorizer: wallet,
    authorizationNonce: authorization.nonce,
    authorization,
    channelCode: 'ID_BCA',
    bankDetails: 'box',
    bankDetailsKeyId: 'key',
  } as const
  void insertCashout(stage.rows as never, cashout as never)
  repeatTake(
    stage.rows as never,
    { id, authorization, createdAt: stage.rows.now(), state: 'taking', checks: 0 } as Cashout,
  )
  drainMicrotasks()
  return stage.save()
}

/** Returns a broken rule, of those that hold at every moment. */
function wrongIn(stage: Stage<Outside>, row: Cashout): string | undefined {
  const { payouts, isTaken, returned } = stage.outside
  const hasPaid = payouts.some(({ status }) => status === 'succeeded')
  const mayPay = payouts.some(({ status }) => status === 'succeeded' || status === 'pending')
  if (payouts.length > 1) return 'the bank made two payouts'
  if (payouts.length > 0 && !isTaken) return 'the bank was asked before the AUSD was taken'
  if (returned > 1) return 'the AUSD was given back twice'
  if (returned > 0 && mayPay) return 'the AUSD was given back, and the bank pays'
  if (returned > 0 && !isTaken) return 'AUSD was given back that was never taken'
  if (row.state === 'paid' && payouts.length === 0) return 'paid without an order to the bank'
  if (row.state === 'failed' && (isTaken || hasPaid)) return 'failed, but the AUSD was taken'
  const said = bookedOf(stage.rows, journal, row.id)
  if (unbalanced(said).length > 0) return 'the books do not balance'
  if (difference(said, positionOf(row)).length > 0) return 'the books do not match the row'
  if (stage.rows.unknown.size > 0) return `no stand-in for ${[...stage.rows.unknown][0]}`
  return undefined
}
