import {
  type Book,
  chargeOf,
  fiatMinor,
  lookAt,
  newTopup,
  openBook,
  openPayments,
  type Topup,
} from '../copies/payments'
import type { Result } from '../order'
import { failures, type Race, type RaceVerdict, type Stage } from '../race'

// The payments, refunds and outcomes of one top-up are reported to two instances at once.

type Copy = ReturnType<typeof openPayments>
type Telling = (copy: Copy, topup: Topup) => Promise<unknown>
type Ground = { readonly stage: Stage; readonly book: Book; readonly copies: readonly Copy[] }
type TopupView = Awaited<ReturnType<typeof lookAt>>

const sorted = (words: readonly string[]): string => words.toSorted().join(', ')

/** Returns a race with the state before it and the rules afterwards. */
function telling(options: {
  name: string
  before: (ground: Ground, topup: Topup) => Promise<unknown>
  tell: readonly [Telling, Telling]
  ends: Readonly<Record<string, readonly string[]>>
  besides?: readonly string[]
  also?: (row: TopupView['row']) => readonly (string | false)[]
}): Race {
  const { name, before, tell, ends, besides = [], also = () => [] } = options
  const judge = ({ row, subjects, missing }: TopupView, results: readonly Result[]): RaceVerdict => {
    const outcome = row.reason ? `${row.state}, ${row.reason}` : row.state
    const wrong = [...failures(results, ['done']), ...also(row).filter((fault) => fault !== false)]
    const may = ends[outcome]
    if (!may) wrong.push(`it ended as ${outcome}`)
    else if (sorted(may) !== sorted(subjects.filter((word) => !besides.includes(word))))
      wrong.push(`${outcome}: sent ${sorted(subjects)}`)
    if (missing.length > 0) wrong.push('the books do not match the row')
    return { outcome, wrong }
  }
  return {
    name,
    open: async (stage) => {
      const book = openBook()
      const copies = stage.sides.map((side) => openPayments(side, book))
      return async () => {
        const topup = await newTopup(stage.db, book)
        await before({ stage, book, copies }, topup)
        return {
          works: [() => tell[0](copies[0]!, topup), () => tell[1](copies[1]!, topup)],
          judge: async (results) => judge(await lookAt(stage.db, topup.id), results),
        }
      }
    },
  }
}

const captured: Telling = ({ deliver }, { chargeId }) =>
  deliver('payment.capture', { payment_id: chargeId }, `captured ${chargeId}`)
const completed: Telling = ({ deliver }, { checkoutId }) =>
  deliver('payment_session.completed', { payment_session_id: checkoutId }, `of ${checkoutId}`)
const second: Telling = ({ deliver }, { chargeId }) =>
  deliver('payment.capture', { payment_id: `${chargeId}-2` }, `captured ${chargeId}-2`)
const ended: Telling = ({ deliver }, { checkoutId }) =>
  deliver('payment_session.expired', { payment_session_id: `${checkoutId}` }, `end ${checkoutId}`)
const credited: Telling = ({ told }, { id, wallet }) => told('credit', id, wallet)
const refunded: (part?: string) => Telling =
  (part = '') =>
  ({ deliver }, { refundId }) =>
    deliver('refund.succeeded', { id: refundId + part }, `refund ${refundId}${part}`)

const comes =
  (kind: 'qr' | 'card' = 'qr') =>
  async ({ book }: Ground, topup: Topup) =>
    void book.charges.set(topup.chargeId, chargeOf(topup, topup.chargeId, kind))

const isPaid =
  (kind: 'qr' | 'card') =>
  async (ground: Ground, topup: Topup): Promise<void> => {
    await comes(kind)(ground, topup)
    await captured(ground.copies[0]!, topup)
  }

function goesBack({ book }: Ground, { refundId, chargeId, requestId }: Topup, parts = ['']) {
  for (const part of parts)
    book.refunds.set(refundId + part, {
      refundId: refundId + part,
      status: 'succeeded',
      paymentId: chargeId,
      paymentRequestId: requestId,
      reference: null,
      currency: 'IDR',
      refundedMinor: fiatMinor / BigInt(parts.length),
    })
}

const credit = ['payments.paid', 'relay.credit']
export const received: readonly Race[] = [
  // guard: one transaction at a time decides about a payment
  // together with: a payment moves only from the state that was read
  // together with: an instance waits while another handles the same message
  telling({
    name: 'one webhook of a payment, delivered to two instances',
    before: comes(),
    tell: [captured, captured],
    ends: { paid: credit },
  }),
  // guard: one transaction at a time decides about a payment
  // together with: a payment moves only from the state that was read
  // together with: of two instances with the same message, one claims it
  telling({
    name: 'two webhooks of one payment: for its checkout and for itself',
    before: comes(),
    tell: [completed, captured],
    ends: { paid: credit },
  }),
  // guard: one transaction at a time decides about a payment
  telling({
    name: 'two payments for one top-up',
    before: async (ground, topup) => {
      await comes()(ground, topup)
      ground.book.charges.set(`${topup.chargeId}-2`, chargeOf(topup, `${topup.chargeId}-2`))
    },
    tell: [captured, second],
    ends: { paid: credit },
    also: ({ overpaidMinor }) => [overpaidMinor !== fiatMinor && 'the second is not counted once'],
  }),
  // guard: one transaction at a time decides about a payment
  // together with: a payment moves only from the state that was read
  telling({
    name: 'a payment arrives as its checkout expires',
    before: async (ground, topup) => {
      await comes()(ground, topup)
      const known = ground.book.checkouts.get(topup.checkoutId)!
      const closed = {
        ...known,
        status: 'closed',
        paymentId: null,
        paymentRequestId: null,
      } as const
      ground.book.checkouts.set(topup.checkoutId, closed)
    },
    tell: [captured, ended],
    ends: { paid: credit },
  }),
  // guard: one transaction at a time decides about a payment
  // together with: a payment moves only from the state that was read
  telling({
    name: 'a final credit, reported twice',
    before: isPaid('qr'),
    tell: [credited, credited],
    ends: { credited: [...credit, 'payments.settled'] },
  }),
  // guard: one transaction at a time decides about a payment
  telling({
    name: 'credit against refund of a payment without a hold',
    before: async (ground, topup) => {
      await isPaid('qr')(ground, topup)
      goesBack(ground, topup)
    },
    tell: [credited, refunded()],
    ends: { 'review, refunded_after_credit': [...credit, 'payments.review', 'relay.freeze'] },
    besides: ['payments.settled'], // This message appears if the payment was credited before the refund.
  }),
  // guard: one transaction at a time decides about a payment
  telling({
    name: 'credit against refund of a held payment',
    before: async (ground, topup) => {
      await isPaid('card')(ground, topup)
      goesBack(ground, topup)
    },
    tell: [credited, refunded()],
    ends: { 'revoking, refunded_during_hold': [...credit, 'relay.revoke'] },
  }),
  // guard: one transaction at a time decides about a payment
  telling({
    name: 'two refunds of half a payment each',
    before: async (ground, topup) => {
      await isPaid('card')(ground, topup)
      await credited(ground.copies[0]!, topup)
      goesBack(ground, topup, ['-1', '-2'])
    },
    tell: [refunded('-1'), refunded('-2')],
    ends: { 'revoking, refunded_during_hold': [...credit, 'relay.revoke'] },
    also: ({ refundedMinor }) => [refundedMinor !== fiatMinor && 'each refund is not counted once'],
  }),
]
