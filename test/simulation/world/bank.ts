import { ProviderUnknown } from '#shared/provider/problem'
import type { ListedStatus } from '#shared/provider/transactions'
import type { Evidence, PayoutOrder, PayoutProvider, PayoutStatus } from '../../../services/payouts/provider'
import { chance, oneOf } from './choices'
import { callingProvider } from './faults'
import { List } from './list'
import type { Process, World } from './world'

/** Fate of a payout, which its reference determines. */
export type Fate = 'pays' | 'fails' | 'reverses' | 'refuses' | 'is moody'

export type Payout = {
  readonly id: string
  readonly reference: string
  readonly amountMinor: bigint
  status: PayoutStatus
}

/** A bank. One idempotency key makes one payout; an order may arrive long after its sender timed out. */
export class PayoutsProvider {
  readonly payouts = new Map<string, Payout>()
  readonly fates = new Map<string, Fate>()
  readonly #byReference = new Map<string, Payout[]>()
  readonly #listed = new List()
  #count = 0

  constructor(
    private readonly world: World,
    private readonly send: (account: 'ID', about: string, hint: object) => void,
  ) {}

  fateOf(reference: string): Fate {
    return this.fates.get(reference) ?? 'pays'
  }

  payoutsOf(reference: string): readonly Payout[] {
    return this.#byReference.get(reference) ?? []
  }

  #order({ id: reference, fiatMinor }: PayoutOrder): Payout | 'refused' {
    const [known] = this.payoutsOf(reference)
    if (known) return known
    const fate = this.fateOf(reference)
    const refuses = fate === 'refuses' || (fate === 'is moody' && !this.world.isCalm && chance(this.world.choices, 600))
    if (refuses) return 'refused'
    this.#count += 1
    const id = `disb-${this.#count}`
    const payout: Payout = { id, reference, amountMinor: fiatMinor, status: 'pending' }
    this.payouts.set(id, payout)
    this.#byReference.set(reference, [...this.payoutsOf(reference), payout])
    this.world.tell(`bank: ${id} for ${reference} is ordered`)
    this.#becomes(payout, 'pending')
    const settlesAfterMs = 500 + oneOf(this.world.choices, 8_000)
    this.world.after(settlesAfterMs, undefined, () => this.#becomes(payout, fate === 'fails' ? 'refused' : 'succeeded'))
    if (fate === 'reverses')
      this.world.after(settlesAfterMs + 2_000 + oneOf(this.world.choices, 20_000), undefined, () =>
        this.#becomes(payout, 'reversed'),
      )
    return payout
  }

  #becomes(payout: Payout, status: PayoutStatus): void {
    payout.status = status
    const listed: ListedStatus = status === 'refused' ? 'failed' : status === 'reversed' ? 'reversed' : asListed(status)
    const now = new Date(this.world.now)
    const { id: productId, reference, amountMinor } = payout
    this.#listed.push({
      transactionId: `txn-${productId}`,
      type: 'payout',
      status: listed,
      productId,
      paymentRequestId: null,
      reference,
      channel: 'BCA',
      currency: 'IDR',
      amountMinor,
      cashflow: 'out',
      feeMinor: 0n,
      created: now,
      updated: now,
    })
    if (status === 'pending') return
    this.world.tell(`bank: ${productId} for ${reference} is ${status}`)
    this.send('ID', reference, { about: 'payout', payoutId: productId })
  }

  as(process: Process): PayoutProvider {
    const { world } = this
    const call = <T>(what: string, effect: () => T) => world.leave(process, callingProvider, what, effect)
    const answerTo = (order: PayoutOrder) => {
      const made = this.#order(order)
      if (made !== 'refused') return { ok: evidenceOf(made) }
      return { refused: { code: 'CHANNEL_UNAVAILABLE', meaning: 'channel_unavailable' as const } }
    }
    return {
      apis: ['v2'],
      create: async (order) => {
        const perMille = this.fateOf(order.id) === 'is moody' ? 250 : 30
        if (!world.isCalm && chance(world.choices, perMille)) {
          world.saw('a payout order arrived after its sender had timed out')
          world.tell(`${process.name}: orders ${order.id}: on its way, no answer`)
          world.after(1_000 + oneOf(world.choices, 50_000), undefined, () => answerTo(order))
          return call(`orders ${order.id}`, () => {
            throw new ProviderUnknown('no response in time')
          })
        }
        return call(`orders ${order.id}`, () => answerTo(order))
      },
      checkHolder: async () => 'cannot_tell',
      find: (payoutId) =>
        call(`asks for ${payoutId}`, () => {
          const payout = this.payouts.get(payoutId)
          return payout && evidenceOf(payout)
        }),
      findByReference: async (reference, api) =>
        api !== 'v2' ? [] : call(`asks for payouts of ${reference}`, () => this.payoutsOf(reference).map(evidenceOf)),
      listTransactions: (agoMs) => call('reads the list of payouts', () => this.#listed.since(world.now - agoMs)),
      balance: async () => 10n ** 15n,
      listChannels: async () => [bank],
      statusOf: (word) => word as PayoutStatus,
      readDelivery: (body) => {
        const hint = JSON.parse(body) as { about: string; payoutId: string }
        return hint.about === 'payout' ? { about: 'payout', payoutId: hint.payoutId } : { about: 'other' }
      },
    }
  }
}

const asListed = (status: PayoutStatus): ListedStatus => (status === 'succeeded' ? 'succeeded' : 'pending')

const evidenceOf = ({ id, reference, amountMinor, status }: Payout): Evidence => ({
  payoutId: id,
  referenceId: reference,
  status,
  word: status,
  failureCode: null,
  reason: null,
  amountMinor,
  currency: 'IDR',
})

export const bank = {
  code: 'ID_BCA',
  name: 'BCA',
  minMinor: 10_000n,
  maxMinor: 10n ** 12n,
  incrementMinor: 1n,
  accountDigits: [6, 20] as const,
}
