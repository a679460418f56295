import { drainMicrotasks } from 'bun:jsc'
import { handle } from '#platform/bus/handling'
import { idFor, messageIdFor } from '#shared/ids'
import { difference, unbalanced } from '#shared/ledger/position'
import * as relay from '#shared/messages/relay'
import { ok } from '#shared/refusals'
import { defaultsOf } from '#test/support/settings'
import { assemble, type Means, messagesOf } from '../../../services/payments/assemble'
import { fields } from '../../../services/payments/config'
import { positionOf } from '../../../services/payments/ledger/position'
import { checkHold } from '../../../services/payments/onchain/hold'
import { isOnHold } from '../../../services/payments/payment'
import { insertPayment } from '../../../services/payments/payment.store'
import type { PaymentRow } from '../../../services/payments/payment.table'
import type { Hint } from '../../../services/payments/provider'
import { journal, messaging, outbox } from '../../../services/payments/schema.store'
import { bookedOf } from '../rows/journal'
import { bookIn } from '../rows/refunds'
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

const wallet = `0x${'ab'.repeat(20)}` as const
const id = idFor('payment', 'the one payment')
const chargeId = 'py-1'
const fiatMinor = 160_000n
const ausdMicro = 9_846_153n

/** No state differs by how long its wait is, and the list of the provider is empty. */
const config = { ...defaultsOf('payments', fields), holdMarginMs: 5_000, providerListLatestEveryMs: 0 }

type Outside = Common & {
  isPaid: boolean
  isClosed: boolean
  refundedMinor: bigint
  /** Orders that the relayer received; a revocation leaves `ausd`. */
  orders: { id: string; subject: string; refId: string; ausd: bigint; isDone: boolean }[]
  live: { refId: string; ausd: bigint }[]
  hold: 'none' | 'held' | 'released'
  checks: number
}

export type Terms = {
  readonly channel: 'qr' | 'card'
  /** Refund in the smallest unit, or 0 for none. */
  readonly refundMinor: bigint
  readonly crashes: number
  readonly overtakes: number
  /** True if every webhook is delivered twice. */
  readonly isTwice: boolean
}

const resting = ['credited', 'revoked', 'refunded', 'review', 'expired']

export function paymentModel(terms: Terms): Model<Moment<Outside>> {
  const stage = new Stage<Outside>((outside) => ({
    ...outside,
    left: { ...outside.left },
    messages: [...outside.messages],
    orders: [...outside.orders],
    live: [...outside.live],
  }))
  bookIn(journal)
  stage.rows.outbox(outbox)
  for (const table of [...Object.values(messaging), journal]) stage.rows.of(table)

  const contextOf = (reach: Reach) => {
    const state = () => stage.outside
    const charge = () => ({
      status: 'succeeded' as const,
      charge: {
        account: 'ID' as const,
        paymentId: chargeId,
        paymentRequestId: 'pr-1',
        reference: id,
        currency: 'IDR',
        paidMinor: fiatMinor,
        channel: terms.channel.toUpperCase(),
        channelKind: terms.channel,
        paidAt: stage.rows.now(),
      },
    })
    const refund = () => ({
      refundId: 'rfd-1',
      status: 'succeeded' as const,
      paymentId: chargeId,
      paymentRequestId: 'pr-1',
      reference: null,
      currency: 'IDR',
      refundedMinor: state().refundedMinor,
    })
    /** Returns true once the provider's state is final. */
    const isFixed = () => state().isPaid && (terms.refundMinor === 0n || state().refundedMinor > 0n)
    const look = <T>(answer: () => T) => reach(answer, isFixed())
    const provider = {
      readDelivery: (body: string) => JSON.parse(body) as Hint,
      findCheckout: () =>
        look(() => ({
          checkoutId: 'ps-1',
          reference: id,
          checkoutUrl: 'https://pay',
          expiresAt: null,
          status: state().isPaid ? 'completed' : state().isClosed ? 'closed' : 'open',
          paymentRequestId: state().isPaid ? 'pr-1' : null,
          paymentId: state().isPaid ? chargeId : null,
        })),
      findCharge: () => look(() => (state().isPaid ? charge() : undefined)),
      findChargeOfRequest: () => look(() => (state().isPaid ? charge() : null)),
      findRefund: () => look(() => (state().refundedMinor > 0n ? refund() : undefined)),
      listRefunds: () => look(() => (state().refundedMinor > 0n ? [refund()] : [])),
      listTransactions: () => look(() => []),
    }
    const hold = () => {
      const seconds = Math.floor(stage.nowMs / 1_000)
      const released = { state: 'released', until: String(seconds) }
      const held = { state: 'held', until: String(seconds + 1) }
      const said = state().hold === 'released' ? released : held
      return ok({ ...said, blockTime: String(seconds) })
    }
    const means = {
      database: stage.database(reach),
      provider,
      log: noLog,
      poke: () => {},
      clock: () => stage.nowMs,
      ask: () => reach(hold),
      treasury: undefined,
    }
    return assemble(config, means as unknown as Means)
  }

  const row = () => stage.rows.payments.get(id)!

  const advance = (at: number) => {
    const task = stage.tasks[at]!
    const { about } = task
    stage.advance(at, (reach) => {
      const context = contextOf(reach)
      if (about === 'hold') {
        const seen = reach(() => row())
        return seen.then((payment) => checkHold(context, payment)).then(() => 'done')
      }
      const posted = stage.outside.messages.find((one) => one.id === about)!
      return handle(messagesOf(context), incoming(posted))
    })
  }

  const nothingAsked: Reach = () => Promise.reject(new Error('unexpected request'))
  const [{ orderOf } = {}] = messagesOf(contextOf(nothingAsked)).reactions
  const tell = (hint: object, name: string) => {
    for (let time = 1; time <= (terms.isTwice ? 2 : 1); time++) {
      const body = JSON.stringify(hint)
      const receivedAt = new Date(stage.nowMs).toISOString()
      const deliveryId = `${name} ${time}`
      const payload = { account: 'ID', deliveryId, receivedAt, body }
      const twin = time > 1 ? `${name} ${time - 1}` : undefined
      const turn = orderOf?.(payload)
      const subject = `webhooks.payments.ID.${name}`
      post(stage.outside, { id: deliveryId, subject, twin, turn }, payload)
    }
  }

  /** Executes an order; there is one at a time per ref. */
  const carryOut = (place: number) => {
    const { outside } = stage
    const order = outside.orders[place]!
    const kind = order.subject === relay.RevokeOrdered.subject ? 'revoke' : 'credit'
    const live = outside.live.find(({ refId }) => refId === order.refId)
    let topic: { subject: string } = relay.relaySettled(kind)
    if (kind === 'credit' && !live) {
      outside.live.push({ refId: order.refId, ausd: order.ausd })
      if (terms.channel === 'card') outside.hold = 'held'
    }
    if (kind === 'revoke' && live && live.ausd > order.ausd) {
      if (outside.hold === 'held')
        outside.live = outside.live.map((one) => (one === live ? { ...one, ausd: order.ausd } : one))
      else topic = relay.relayFailed(kind)
    }
    outside.orders[place] = { ...order, isDone: true }
    const isPart = kind === 'revoke' && order.ausd > 0n
    const cause = isPart ? `${order.refId}:${order.ausd}` : order.refId
    const payload = {
      operationId: 'op',
      cause,
      wallet,
      reason: 'not_held',
      txHash: `0x${'11'.repeat(32)}`,
      blockNumber: '7',
    }
    post(outside, { id: messageIdFor(topic, cause), subject: topic.subject }, payload)
  }

  const isNoted = (moment: Moment<Outside>) => (messageId: string) => {
    stage.load(moment)
    return stage.rows.of(messaging.inbox).has(`payments ${messageId}`)
  }

  // Messages are published at once, because the relayer may execute an order at any later time.
  stage.settle = () => {
    acknowledgeUnseen(stage)
    forgetCopies(stage)
    nameTwins(stage, stage.rows.of(messaging.inbox), 'payments')
    for (const { id: messageId, subject, payload } of publish(stage, outbox, followed)) {
      const { refId, ausd, left } = payload as { refId: string; ausd?: string; left?: string }
      const amount = BigInt(ausd ?? left ?? '0')
      const order = { id: messageId, subject, refId, ausd: amount, isDone: false }
      stage.outside.orders.push(order)
      stage.outside.orders.sort((left, right) => (left.id < right.id ? -1 : 1))
    }
  }

  const stepsFrom = (moment: Moment<Outside>): Step<Outside>[] => {
    const found = commonSteps(stage, moment, advance, isNoted(moment))
    const take = (step: string, act: () => void) => {
      stage.load(moment)
      act()
      found.push({ step, to: stage.save() })
    }
    const { outside } = moment
    if (!outside.isPaid) {
      take('the user pays', () => {
        stage.outside.isPaid = true
        tell({ about: 'payment', paymentId: chargeId, reference: id }, 'payment')
        tell({ about: 'checkout', checkoutId: 'ps-1', reference: id }, 'checkout')
      })
    } else if (outside.refundedMinor === 0n && terms.refundMinor > 0n)
      take('the payment is refunded', () => {
        stage.outside.refundedMinor = terms.refundMinor
        const refund = { refundId: 'rfd-1', paymentId: chargeId, paymentRequestId: 'pr-1' }
        tell({ about: 'refund', ...refund }, 'refund')
      })
    stage.load(moment)
    for (const [place, order] of outside.orders.entries()) {
      const isRevoke = order.subject === relay.RevokeOrdered.subject
      const isHeldBack = isRevoke && !outside.live.some(({ refId }) => refId === order.refId)
      if (!order.isDone && !isHeldBack) take(`${order.subject} is done on the chain`, () => carryOut(place))
    }
    if (outside.hold === 'held')
      take('the hold ends', () => {
        stage.outside.hold = 'released'
      })
    stage.load(moment)
    const isChecked = moment.tasks.some(({ about }) => about === 'hold')
    if (isOnHold(row()) && !isChecked)
      for (const copy of [0, 1])
        if (copy === 0 || moment.tasks.length > 0)
          take(`instance ${copy} checks the hold`, () => {
            stage.tasks.push({ copy, about: 'hold', said: [] })
          })
    return found
  }

  return {
    start: begin(stage, terms),
    keyOf,
    stepsFrom,
    wrongIn: (moment) => {
      stage.load(moment)
      return wrongIn(stage, row(), moment.tasks.length === 0 && isOver(moment))
    },
    isEnd: (moment) => {
      stage.load(moment)
      const { state } = row()
      return isOver(moment) && moment.tasks.length === 0 && resting.includes(state)
    },
  }

  function isOver({ outside }: Moment<Outside>): boolean {
    const isQuiet = outside.isPaid && outside.messages.every(({ isDone }) => isDone)
    return isQuiet && outside.orders.every(({ isDone }) => isDone)
  }
}

/** Subjects that have a reader; `payments.*` and freezes have none. */
const followed: readonly string[] = [relay.CreditOrdered.subject, relay.RevokeOrdered.subject]

function begin(stage: Stage<Outside>, { crashes, overtakes }: Terms): Moment<Outside> {
  stage.outside = {
    messages: [],
    left: { crashes, overtakes, doubles: 0 },
    orders: [],
    live: [],
    isPaid: false,
    isClosed: false,
    refundedMinor: 0n,
    hold: 'none',
    checks: 0,
  }
  const expiresAt = new Date(stage.nowMs + 900_000)
  const payment = {
    id,
    kind: 'topup',
    state: 'awaiting_payment',
    wallet,
    pair: 'USD/IDR',
    currency: 'IDR',
    rateMinorPerUsd: 16_250n,
    fiatMinor,
    ausdMicro,
    topupMicro: ausdMicro,
    method: 'qr',
    quoteId: 'q',
    requestFingerprint: 't',
    account: 'ID',
    checkoutId: 'ps-1',
    checkoutUrl: 'https://pay',
    expiresAt,
  } as const
  void insertPayment(stage.rows as never, payment as never, 0)
  drainMicrotasks()
  return stage.save()
}

/** Returns a broken rule; some rules hold only at the end. */
function wrongIn(stage: Stage<Outside>, row: PaymentRow, isOver: boolean): string | undefined {
  const { live, refundedMinor, messages } = stage.outside
  const there = live.filter(({ ausd }) => ausd > 0n)
  const onChain = there.reduce((sum, { ausd }) => sum + ausd, 0n)
  if (there.length > 1) return `credited ${there.length} times`
  if (onChain > row.ausdMicro) return `credited ${onChain}, which is more than was paid`
  const said = bookedOf(stage.rows, journal, row.id)
  if (unbalanced(said).length > 0) return 'the books do not balance'
  if (difference(said, positionOf(row)).length > 0) return 'the books do not match the row'
  if (stage.rows.unknown.size > 0) return `no stand-in for ${[...stage.rows.unknown][0]}`
  if (!isOver || !messages.every(({ isDone }) => isDone)) return undefined
  if (!resting.includes(row.state) && row.state !== 'held') return `it stays ${row.state}`
  const left = refundedMinor >= row.fiatMinor ? 0n : (row.ausdMicro * (row.fiatMinor - refundedMinor)) / row.fiatMinor
  const isBooked = row.state === 'review' && stage.rows.reversals.has(row.id)
  if (onChain > left && !isBooked && row.state !== 'held') return `refunded and credited (${row.state})`
  if (onChain < left && row.state !== 'review') return `${onChain} credited of ${left} (${row.state})`
  return undefined
}
