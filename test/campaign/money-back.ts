import type { ExternalControls } from '#infra/demo/external'
import type { Random } from '#infra/sandbox/random'
import { pause } from '#platform/deadline'
import { atProvider } from './at-provider'
import type { Fate, PaymentDeed } from './record'

type Case = {
  readonly chance: Random
  /** Returns a part of the amount; `share` is from 0 to 1. */
  readonly part: (share: number) => { amount: number }
  /** Calls a control of the sandbox. Returns the changed object, or undefined if it was refused. */
  readonly control: (path: string, body?: object) => Promise<{ id: string } | undefined>
  readonly onPayment: (name: 'refund' | 'chargeback' | 'tell', body?: object) => Promise<{ id: string } | undefined>
  readonly rest: (maxMs: number) => Promise<void>
  /** Records beforehand that the money may come back. */
  readonly mayComeBack: () => void
}

const [short, long] = [4_000, 30_000]
const half = (chance: Random) => chance.belowMs(2) === 0
/** Returns the amount of a refund: the rest of the payment, or a part. */
const someOf = ({ chance, part }: Case) => (half(chance) ? {} : part(chance.belowMs(100) / 100))

/** Plays each fate. None leaves anything pending unless the sandbox is down. */
export const fates: Readonly<Record<Fate, (one: Case) => Promise<void>>> = {
  refunded: async (one) => {
    await one.onPayment('refund', someOf(one))
    if (half(one.chance)) return
    await one.rest(short)
    await one.onPayment('refund')
  },
  'refunded late': async (one) => {
    const made = await one.onPayment('refund', { status: 'PENDING', ...someOf(one) })
    if (!made) return
    const isDoubtful = half(one.chance)
    if (isDoubtful) await one.control(`refunds/${made.id}/tell`, { status: 'REQUIRES_ACTION' })
    await one.rest(long)
    await one.control(`refunds/${made.id}/${half(one.chance) ? 'succeed' : 'fail'}`)
  },
  'refund bounced': async (one) => {
    one.mayComeBack()
    const made = await one.onPayment('refund', someOf(one))
    await one.rest(long)
    if (made) await one.control(`refunds/${made.id}/fail`)
  },
  'charged back': async (one) => {
    await one.onPayment('chargeback', someOf(one))
  },
  'dispute grew': async (one) => {
    const made = await one.onPayment('chargeback', one.part(0.3))
    await one.rest(long)
    if (made) await one.control(`chargebacks/${made.id}`, one.part(0.7))
    if (half(one.chance)) return
    await one.rest(short)
    if (made) await one.control(`chargebacks/${made.id}`, one.part(1))
  },
  'dispute opened': async (one) => {
    const made = await one.onPayment('chargeback', { status: 'PENDING', ...someOf(one) })
    await one.rest(long)
    const status = half(one.chance) ? 'SUCCESS' : half(one.chance) ? 'FAILED' : 'VOIDED'
    if (made) await one.control(`chargebacks/${made.id}`, { status })
  },
  'dispute won': async (one) => {
    one.mayComeBack()
    const made = await one.onPayment('chargeback', someOf(one))
    await one.rest(long)
    if (made) await one.control(`chargebacks/${made.id}`, { status: 'REVERSED' })
    if (half(one.chance)) return
    await one.rest(long)
    if (made) await one.control(`chargebacks/${made.id}`, { status: 'SUCCESS' })
  },
  'disputed abroad': async (one) => {
    const currency = half(one.chance) ? 'USD' : 'SGD'
    const isWon = one.chance.belowMs(4) === 0
    if (isWon) one.mayComeBack()
    const status = half(one.chance) ? 'PENDING' : 'SUCCESS'
    const made = await one.onPayment('chargeback', { currency, status })
    await one.rest(long)
    const last = { status: isWon ? 'REVERSED' : 'SUCCESS' }
    if (made) await one.control(`chargebacks/${made.id}`, last)
  },
  'disputed and refunded': async (one) => {
    const isFirst = half(one.chance)
    await one.onPayment(isFirst ? 'refund' : 'chargeback', someOf(one))
    await one.rest(long)
    await one.onPayment(isFirst ? 'chargeback' : 'refund')
  },
  voided: async (one) => {
    // The list and the payment's own endpoint may show the change at different times.
    const both = { status: 'CANCELED', listed: half(one.chance) ? 'VOIDED' : 'REVERSED' }
    const { listed, status } = both
    const first = [both, { listed }, { status }][one.chance.belowMs(3)]!
    const isTakenBack = half(one.chance)
    if (isTakenBack) one.mayComeBack()
    await one.onPayment('tell', first)
    await one.rest(long)
    await one.onPayment('tell', isTakenBack ? {} : both)
  },
  doubtful: async (one) => {
    await one.onPayment('tell', { status: half(one.chance) ? 'IN_REVIEW' : 'FAILED' })
    await one.rest(long)
    await one.onPayment('tell', {})
  },
}

export async function giveBack(
  { outside, chance, signal }: { outside: ExternalControls; chance: Random; signal: AbortSignal },
  deed: PaymentDeed,
  fate: Fate,
): Promise<void> {
  const { id, fiatMinor } = deed.answer!
  deed.after.add(fate)
  const control: Case['control'] = async (path, body = {}) => {
    let made: { id: string } | undefined
    await atProvider(async () => {
      made = (await outside.control(path, body)) as { id: string }
    })
    return made
  }
  await fates[fate]({
    chance,
    control,
    part: (share) => {
      const minor = Math.max(1, Math.floor(Number(fiatMinor) * share))
      return { amount: deed.pair === 'USD/MYR' ? minor / 100 : minor }
    },
    onPayment: (name, body) => control(`payments/${id}/${name}`, body),
    rest: (maxMs) => pause(chance.belowMs(maxMs), signal),
    mayComeBack: () => void deed.after.add('came back'),
  })
}

/** Ends what remains pending because the response to a control was lost. */
export async function endPending({ book, control }: ExternalControls): Promise<void> {
  const { refunds = [], chargebacks = [], payments = [] } = await book()
  const end = (path: string, body = {}) => atProvider(() => control(path, body))
  for (const { id, status } of refunds)
    if (!['SUCCEEDED', 'FAILED'].includes(status)) await end(`refunds/${id}/succeed`)
  for (const { id, status } of chargebacks)
    if (status === 'PENDING') await end(`chargebacks/${id}`, { status: 'SUCCESS' })
  for (const { payment_id: id, status, captures, listed_status } of payments)
    if (captures.length > 0 && status !== 'SUCCEEDED' && listed_status === null) await end(`payments/${id}/tell`)
}
