import { type Terms as CashoutTerms, cashoutModel } from './cashout'
import { type Terms as PaymentTerms, paymentModel } from './payment'
import { type Walk, walkThrough } from './search'
import { withoutTimers } from './stage'

/** More states than any of these has: a walk that comes to it was not whole. */
const statesMax = 3_000_000
const whole = 160_000n
const part = 60_000n

const plain = { crashes: 0, overtakes: 0, times: 1 }
const noFaults = { ...plain, faults: 0, refusals: 0, reverses: false }

type Named<Terms> = readonly (readonly [name: string, size: 'short' | 'long', terms: Terms])[]

const ofPayments: Named<PaymentTerms> = [
  ['paid by QR', 'short', { ...plain, channel: 'qr', refundMinor: 0n }],
  ['paid by QR, refunded', 'short', { ...plain, channel: 'qr', refundMinor: whole }],
  ['paid by card, refunded in part', 'long', { ...plain, channel: 'card', refundMinor: part }],
  [
    'paid by QR, refunded, a crash',
    'long',
    { ...plain, channel: 'qr', refundMinor: whole, crashes: 1 },
  ],
  [
    'paid by QR, every delivery twice and overtaken, a crash',
    'long',
    { channel: 'qr', refundMinor: 0n, crashes: 1, overtakes: 1, times: 2 },
  ],
]

const ofCashouts: Named<CashoutTerms> = [
  ['taken and paid', 'short', noFaults],
  ['an order is not answered, and one refused', 'long', { ...noFaults, faults: 1, refusals: 1 }],
  ['taken and paid, and sent back', 'long', { ...noFaults, reverses: true }],
  ['a crash', 'long', { ...noFaults, crashes: 1 }],
  [
    'a crash, where an order is not answered, and another refused',
    'long',
    { ...noFaults, faults: 1, refusals: 1, crashes: 1 },
  ],
]

const walks = [
  ...ofPayments.map(([name, size, terms]) => ({
    ...{ name: `a top-up ${name}`, size },
    run: () => walkThrough(paymentModel(terms), statesMax),
  })),
  ...ofCashouts.map(([name, size, terms]) => ({
    ...{ name: `a cash-out: ${name}`, size },
    run: () => walkThrough(cashoutModel(terms), statesMax),
  })),
]

/** Which walks are meant: `short`, `long` (all of them), or those with these words in their name. */
export const named = (which: string): string[] =>
  walks
    .filter(({ name, size }) => which === 'long' || which === size || name.includes(which))
    .map(({ name }) => name)

export type Walked = Walk & { readonly name: string; readonly seconds: number }

/** Walks through every interleaving of one payment, or of one cash-out. */
export function walk(name: string): Walked {
  withoutTimers()
  const began = performance.now()
  const found = walks.find((one) => one.name === name)!.run()
  return { ...found, name, seconds: (performance.now() - began) / 1_000 }
}
