import { type Terms as CashoutTerms, cashoutModel } from './cashout'
import { type Terms as PaymentTerms, paymentModel } from './payment'
import { type Walk, walkThrough } from './search'
import { withoutTimers } from './state'

/** Most states; a walk that reaches this number was not exhaustive. */
const statesMax = 3_000_000
const whole = 160_000n
const part = 60_000n

const calm = { crashes: 0, overtakes: 0, isTwice: false }
const paidByQr = { ...calm, channel: 'qr', refundMinor: 0n } as const
const refunded = { ...paidByQr, refundMinor: whole }
const taken = { ...calm, faults: 0, refusals: 0, reverses: false }
const unclear = { ...taken, faults: 1, refusals: 1 }

/** Size of a walk. A `huge` one takes most of an hour and 8 GB, and runs only when named. */
type Size = 'short' | 'long' | 'huge'
type Named<Terms> = readonly (readonly [name: string, size: Size, terms: Terms])[]

const ofPayments: Named<PaymentTerms> = [
  ['paid by QR', 'short', paidByQr],
  ['paid by QR, every webhook twice', 'short', { ...paidByQr, isTwice: true }],
  ['paid by QR, refunded', 'short', refunded],
  ['paid by card, refunded in part', 'long', { ...paidByQr, channel: 'card', refundMinor: part }],
  ['paid by QR, refunded, a crash', 'long', { ...refunded, crashes: 1 }],
  ['paid by QR, refunded, every webhook twice', 'long', { ...refunded, isTwice: true }],
  ['paid by QR, refunded, a message overtaken', 'long', { ...refunded, overtakes: 1 }],
  ['paid by QR, a message overtaken, a crash', 'long', { ...paidByQr, overtakes: 1, crashes: 1 }],
  ['paid by QR, every webhook twice, a crash', 'long', { ...paidByQr, isTwice: true, crashes: 1 }],
  ['paid by QR, every webhook twice, a message overtaken', 'long', { ...paidByQr, isTwice: true, overtakes: 1 }],
  ['paid by QR, refunded, every webhook twice, a crash', 'huge', { ...refunded, isTwice: true, crashes: 1 }],
  [
    'paid by QR, every webhook twice, a message overtaken, a crash',
    'long',
    { ...paidByQr, isTwice: true, overtakes: 1, crashes: 1 },
  ],
]

const ofCashouts: Named<CashoutTerms> = [
  ['taken and paid', 'short', taken],
  ['an order is not answered, and one refused', 'long', unclear],
  ['taken and paid, and sent back', 'long', { ...taken, reverses: true }],
  ['a crash', 'long', { ...taken, crashes: 1 }],
  ['every webhook twice, a message overtaken', 'long', { ...taken, isTwice: true, overtakes: 1 }],
  ['every webhook twice, a crash', 'long', { ...taken, isTwice: true, crashes: 1 }],
  ['a crash, where an order is not answered, and another refused', 'long', { ...unclear, crashes: 1 }],
  [
    'every webhook twice, a crash, where an order is not answered, and another refused',
    'long',
    { ...unclear, isTwice: true, crashes: 1 },
  ],
]

const walks = [
  ...ofPayments.map(([name, size, terms]) => ({
    name: `a top-up ${name}`,
    size,
    run: (onLevel: () => void) => walkThrough(paymentModel(terms), statesMax, onLevel),
  })),
  ...ofCashouts.map(([name, size, terms]) => ({
    name: `a cash-out: ${name}`,
    size,
    run: (onLevel: () => void) => walkThrough(cashoutModel(terms), statesMax, onLevel),
  })),
]

/** Returns the names of walks for `short`, `long` (all but the huge), or a part of a name. */
export const named = (which: string): string[] =>
  walks
    .filter(({ name, size }) => (which === 'long' && size !== 'huge') || which === size || name.includes(which))
    .map(({ name }) => name)

export type Walked = Walk & { readonly name: string; readonly seconds: number }

export function walk(name: string, onLevel: () => void): Walked {
  withoutTimers()
  const began = performance.now()
  const found = walks.find((one) => one.name === name)!.run(onLevel)
  return { ...found, name, seconds: (performance.now() - began) / 1_000 }
}
