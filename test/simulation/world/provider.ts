import type { ChannelKind } from '#shared/messages/activity'
import type { ProviderAccount } from '#shared/money/pair'
import type { Listed, ListedStatus } from '#shared/provider/transactions'
import type {
  Charge,
  Checkout,
  DisputeStage,
  FetchedCharge,
  FetchedDispute,
  FetchedRefund,
  Hint,
  PaymentProvider,
  RefundStatus,
} from '../../../services/payments/provider'
import { chance, oneOf } from './choices'
import { callingProvider } from './faults'
import { List } from './list'
import type { Process, World } from './world'

export type Session = {
  readonly id: string
  readonly reference: string
  readonly account: ProviderAccount
  readonly currency: 'IDR' | 'MYR'
  readonly amountMinor: bigint
  readonly expiresAt: Date
  readonly requestId: string
  status: 'open' | 'completed' | 'closed' | 'cancelled'
  paymentId: string | null
}
/** Void of a payment. `listed`: only the list shows it; `unlisted`: only its own endpoint does. */
export type Void = 'no' | 'listed' | 'unlisted' | 'cancelled'
export type Payment = Charge & { readonly session: Session; void: Void }
export type Refund = Omit<FetchedRefund, 'status' | 'refundedMinor'> & {
  readonly payment: Payment
  readonly isChargeback: boolean
  /** True if the refund's row in the list has no id. */
  readonly isNameless: boolean
  /** Id by which the refund or dispute names its payment; null if it names none. */
  readonly named: string | null
  readonly raisedAt: number
  status: RefundStatus
  refundedMinor: bigint
}

export class PaymentsProvider {
  readonly sessions = new Map<string, Session>()
  readonly payments = new Map<string, Payment>()
  readonly refunds = new Map<string, Refund>()
  readonly #sessions = new Map<string, Session>()
  readonly #payments = new Map<string, Payment[]>()
  readonly #refunds = new Map<string, Refund[]>()
  readonly #listed: Readonly<Record<ProviderAccount, List>> = { ID: new List(), MY: new List() }
  #count = 0

  constructor(
    private readonly world: World,
    private readonly send: (account: ProviderAccount, about: string, hint: Hint) => void,
  ) {}

  #id(prefix: string): string {
    this.#count += 1
    return `${prefix}-${this.#count}`
  }

  open(order: Parameters<PaymentProvider['openCheckout']>[0]): Session {
    const session: Session = {
      id: this.#id('ps'),
      reference: order.reference,
      account: order.account,
      currency: order.fiat.currency,
      amountMinor: order.fiat.minor,
      expiresAt: new Date(this.world.now + order.lifeMs),
      requestId: this.#id('pr'),
      status: 'open',
      paymentId: null,
    }
    this.sessions.set(session.id, session)
    if (!this.#sessions.has(session.reference)) this.#sessions.set(session.reference, session)
    this.world.after(order.lifeMs, undefined, () => {
      if (session.status !== 'open') return
      session.status = 'closed'
      const { account, reference } = session
      this.send(account, reference, { about: 'checkout', checkoutId: session.id })
    })
    return session
  }

  sessionOf(reference: string): Session | undefined {
    return this.#sessions.get(reference)
  }

  /** Returns payments, newest last. */
  paymentsOf(name: string): readonly Payment[] {
    return this.#payments.get(name) ?? []
  }

  /** Returns refunds, newest last. */
  refundsOf(name: string): readonly Refund[] {
    return this.#refunds.get(name) ?? []
  }

  /** Pays a checkout; a displayed code stays payable after expiry. */
  pay(session: Session, channel: ChannelKind, more: { amountMinor?: bigint } = {}): Payment {
    // A second payment has its own payment request.
    const isFirst = session.paymentId === null
    if (!isFirst) this.world.saw('a checkout was paid twice')
    if (session.status === 'closed' || session.status === 'cancelled') this.world.saw('an expired checkout was paid')
    if (more.amountMinor) this.world.saw('a checkout was paid with another amount')
    const payment: Payment = {
      session,
      account: session.account,
      paymentId: this.#id('py'),
      void: 'no',
      paymentRequestId: isFirst ? session.requestId : this.#id('pr'),
      reference: session.reference,
      currency: session.currency,
      paidMinor: more.amountMinor ?? session.amountMinor,
      channel: channel.toUpperCase(),
      channelKind: channel,
      paidAt: new Date(this.world.now),
    }
    this.payments.set(payment.paymentId, payment)
    for (const name of [payment.reference, payment.paymentRequestId])
      if (name !== null) noteIn(this.#payments, name, payment)
    if (session.status === 'open') session.status = 'completed'
    session.paymentId ??= payment.paymentId
    this.world.tell(`${payment.reference} is paid by ${channel}: ${payment.paymentId}`)
    const { paymentId } = payment
    const { reference } = session
    this.#listPayment(payment, 'succeeded')
    const hints: Hint[] = [
      { about: 'payment', paymentId, reference },
      { about: 'checkout', checkoutId: session.id, reference },
    ]
    for (const hint of hints) this.send(session.account, reference, hint)
    return payment
  }

  void(payment: Payment, to: Void): void {
    const wasListed = payment.void !== 'unlisted'
    payment.void = to
    this.world.saw(to === 'no' ? 'a void was taken back' : 'a payment was voided')
    if (to === 'unlisted') this.world.saw('a void was not listed at first')
    this.world.tell(`${payment.paymentId} of ${payment.reference}: void ${to}`)
    if (to === 'listed' || to === 'cancelled') this.#listPayment(payment, 'voided')
    else if (to === 'no' && wasListed) this.#listPayment(payment, 'succeeded')
  }

  #listPayment(payment: Payment, status: ListedStatus): void {
    const { paymentId } = payment
    const ids = { transactionId: `txn-${paymentId}`, productId: paymentId }
    this.#list({ type: 'payment', status, ...ids }, payment)
  }

  refund(
    payment: Payment,
    amountMinor: bigint,
    isChargeback: boolean,
    status: RefundStatus = 'succeeded',
    currency: string = payment.currency,
  ): Refund {
    const isNameless = !isChargeback && chance(this.world.choices, 100)
    if (isNameless) this.world.saw('a refund was listed without its id')
    const named = [payment.paymentId, payment.paymentRequestId, null][oneOf(this.world.choices, 3)] ?? null
    if (named !== payment.paymentId) this.world.saw('a refund or dispute named its payment by another id')
    const refund: Refund = {
      payment,
      isChargeback,
      isNameless,
      named,
      raisedAt: this.world.now,
      refundId: this.#id('rfd'),
      status,
      paymentId: payment.paymentId,
      paymentRequestId: payment.paymentRequestId,
      reference: null,
      currency,
      refundedMinor: amountMinor,
    }
    this.refunds.set(refund.refundId, refund)
    for (const name of [refund.paymentId, refund.paymentRequestId]) noteIn(this.#refunds, name!, refund)
    if (isChargeback) this.world.saw('a payment was charged back')
    if (currency !== payment.currency) this.world.saw('a dispute was in another currency')
    if (amountMinor < (payment.paidMinor ?? 0n)) this.world.saw('a payment was partly refunded')
    this.become(refund, {})
    return refund
  }

  become(refund: Refund, change: Partial<Pick<Refund, 'status' | 'refundedMinor'>>): void {
    Object.assign(refund, change)
    const { payment, isChargeback, isNameless, refundId, named, paymentRequestId } = refund
    const { status, refundedMinor: amountMinor } = refund
    const type = isChargeback ? 'chargeback' : 'refund'
    const about = `${type} ${refundId} of ${amountMinor} ${status}`
    this.world.tell(`${payment.paymentId} of ${payment.reference}: ${about}`)
    const ids = { transactionId: `txn-${refundId}`, productId: isNameless ? null : refundId }
    const listed = status === 'dead' ? 'reversed' : status
    const isAbroad = refund.currency !== payment.currency
    const sum = isAbroad ? { currency: refund.currency, amountMinor: 1_846n } : { amountMinor }
    this.#list({ type, status: listed, ...ids, ...sum }, payment)
    const { account, reference } = payment
    if (isChargeback) {
      const hint = {
        about: 'dispute',
        disputeId: refundId,
        paymentId: named,
        paymentRequestId: null,
        reference,
      } as const
      this.send(account, reference, hint)
    } else if (status !== 'pending')
      this.send(account, reference, { about: 'refund', refundId, paymentId: named, paymentRequestId })
  }

  #list(row: Partial<Listed>, payment: Payment): void {
    const now = new Date(this.world.now)
    const { paymentRequestId, reference, channel, currency, paidMinor: amountMinor } = payment
    this.#listed[payment.account].push({
      transactionId: this.#id('txn'),
      type: 'payment',
      status: 'succeeded',
      productId: null,
      paymentRequestId,
      reference,
      channel,
      currency,
      amountMinor,
      cashflow: 'in',
      feeMinor: 0n,
      created: now,
      updated: now,
      ...row,
    })
  }

  as(process: Process): PaymentProvider {
    const call = <T>(what: string, effect: () => T) => this.world.leave(process, callingProvider, what, effect)
    /** Looks a charge up; the answer is sometimes wrong: not found or failed. */
    const chargeOf = (payment: Payment | undefined): FetchedCharge | undefined => {
      if (!payment) return undefined
      const { world } = this
      const isWrong = !world.isCalm && chance(world.choices, 60)
      const isHidden = isWrong && chance(world.choices, 500)
      if (isHidden) world.saw('a payment was not found for a moment')
      if (isHidden) return undefined
      if (isWrong) world.saw('a payment read as failed for a moment')
      const isVoid = payment.void === 'cancelled' || payment.void === 'unlisted'
      const status = isVoid ? 'voided' : 'succeeded'
      return { status: isWrong ? 'dead' : status, charge: plain(payment) }
    }
    return {
      openCheckout: (order) => call(`opens a checkout for ${order.reference}`, () => shown(this.open(order))),
      cancelCheckout: (_, checkoutId) =>
        call(`cancels ${checkoutId}`, () => {
          const session = this.sessions.get(checkoutId)
          if (!session) return 'unknown' as const
          if (session.status === 'open') session.status = 'cancelled'
          return session.status === 'completed' ? ('completed' as const) : ('closed' as const)
        }).catch(() => 'unknown' as const),
      findCheckout: (_, checkoutId) =>
        call(`asks for ${checkoutId}`, () => {
          const session = this.sessions.get(checkoutId)
          return session && shown(session)
        }),
      findCharge: (_, paymentId) => call(`asks for ${paymentId}`, () => chargeOf(this.payments.get(paymentId))),
      findChargeOfRequest: (_, requestId) =>
        call(`asks for ${requestId}`, () => {
          return chargeOf(this.paymentsOf(requestId).at(-1)) ?? null
        }),
      findRefund: (_, refundId) =>
        call(`asks for ${refundId}`, () => {
          const refund = this.refunds.get(refundId)
          if (!refund || refund.isChargeback) return undefined
          return plainRefund(refund)
        }),
      findDispute: (_, disputeId) =>
        call(`asks for ${disputeId}`, () => {
          const dispute = this.refunds.get(disputeId)
          return dispute?.isChargeback ? plainDispute(dispute) : undefined
        }),
      listRefunds: (_, requestId) =>
        call(`asks for the refunds of ${requestId}`, () =>
          this.refundsOf(requestId)
            .filter(({ isChargeback }) => !isChargeback)
            .map(plainRefund),
        ),
      createRefund: () => Promise.reject(new Error('no operator orders refunds here')),
      kindOfChannel: () => 'unknown',
      listTransactions: (account, agoMs) =>
        call('reads the list', () => this.#listed[account].since(this.world.now - agoMs)),
      readDelivery: (body) => JSON.parse(body) as Hint,
    }
  }
}

function noteIn<Value>(found: Map<string, Value[]>, name: string, value: Value): void {
  const known = found.get(name)
  if (known) known.push(value)
  else found.set(name, [value])
}

const shown = (session: Session): Checkout => ({
  checkoutId: session.id,
  reference: session.reference,
  status: session.status,
  checkoutUrl: `https://pay/${session.id}`,
  expiresAt: session.expiresAt,
  paymentRequestId: session.status === 'open' ? null : session.requestId,
  paymentId: session.paymentId,
})

const plain = ({ session: _, void: __, ...charge }: Payment): Charge => charge
const plainRefund = ({
  payment: _,
  isChargeback: __,
  isNameless: ___,
  raisedAt: ____,
  named,
  ...refund
}: Refund): FetchedRefund => ({
  ...refund,
  paymentId: named,
})

const stages: Readonly<Record<RefundStatus, DisputeStage>> = {
  pending: 'evidence_due',
  succeeded: 'lost',
  dead: 'won',
  unknown: 'unknown',
}
/** Time until which evidence is due, in ms. */
const evidenceMs = 7 * 86_400_000
const plainDispute = (dispute: Refund): FetchedDispute => ({
  disputeId: dispute.refundId,
  stage: stages[dispute.status],
  paymentId: dispute.named,
  reference: dispute.payment.reference,
  currency: dispute.currency,
  initialMinor: dispute.refundedMinor,
  finalMinor: dispute.status === 'pending' ? undefined : dispute.refundedMinor,
  dueAt: dispute.status === 'pending' ? new Date(dispute.raisedAt + evidenceMs) : null,
})

export function webhooks(
  world: World,
  publish: (message: { id: string; subject: string; payload: unknown }) => void,
): (account: ProviderAccount, about: string, hint: object) => void {
  let count = 0
  const deliver = (account: ProviderAccount, about: string, body: string, deliveryId: string, tries: number) => {
    const drawn = world.choices.draw()
    if (!world.isCalm && drawn > 65_000 && tries < 20) {
      world.tell(`webhook ${deliveryId} was not accepted and will be retried`)
      world.after(2_000 * (tries + 1), undefined, () => deliver(account, about, body, deliveryId, tries + 1))
      // Half of the failures lose only the response of a stored webhook.
      if (drawn % 2 === 0) return
    }
    const receivedAt = new Date(world.now).toISOString()
    const payload = { account, deliveryId, receivedAt, body }
    world.rows.told.add(about)
    publish({ id: deliveryId, subject: `webhooks.payments.${account}.${deliveryId}`, payload })
  }
  return (account, about, hint) => {
    const body = JSON.stringify(hint)
    const share = oneOf(world.choices, 100)
    if (share > 96 && !world.isCalm) {
      world.saw('a webhook was never delivered')
      return
    }
    const times = share > 88 ? 2 : 1
    for (let sent = 0; sent < times; sent++) {
      count += 1
      const deliveryId = `dlv-${count}`
      world.after(5 + oneOf(world.choices, 400), undefined, () => deliver(account, about, body, deliveryId, 0))
    }
    if (times > 1) world.saw('a webhook was delivered twice')
  }
}
