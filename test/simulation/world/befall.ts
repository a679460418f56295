import { currencyOf } from '#infra/sandbox/account'
import { Refusal } from '#infra/sandbox/controls/control'
import type { JsonObject } from '#infra/sandbox/json'
import { majorFromMinor } from '#infra/sandbox/money'
import type { Payment } from '#infra/sandbox/records'
import { controlOf, minorOfShare, type OutsideEvent, placeOf, shareOf } from '#test/world/drivers/events'
import { afterCredit, type Fate, fates } from '#test/world/fates'
import { type CashoutPlan, type PaymentPlan, topup, weighted } from '#test/world/people'
import { chargesOf, payoutsOf, referenceOf } from './charges'
import { chance, oneOf } from './choices'
import { randomIn } from './provider'
import type { Befallen, Surroundings } from './services'

// Plays the fates of the world of proof on payments and cash-outs, in virtual time.

const paidInTime = topup({ channel: 'CARDS' })
const onPayments = fates.filter(({ suits }) => suits(paidInTime))
/** Time in ms after which a fate no longer waits for a status of its payment. */
const patienceMs = 90_000
const lookEveryMs = 1_000
const cashoutEnds: readonly string[] = ['expired', 'paid', 'failed', 'returned']

type Later = (ms: number, act: () => void) => void

/**
 * Chooses a fate for a payment, and plays it. Whatever befalls one that was paid as agreed may befall any other. A third of these
 * fates wait until their payment is credited.
 */
export function befall(around: Surroundings, payment: Payment, plan: PaymentPlan, later: Later): void {
  const { world } = around
  const chosen = weighted([...onPayments, ...ownFates(around, payment, plan)], randomIn(world))
  const isOwn = !onPayments.includes(chosen)
  const fate = !isOwn && chosen.events.length > 0 && chance(world.choices, 330) ? afterCredit(chosen) : chosen
  const befallen: Befallen = { plan: isOwn ? plan : topup(), fate, isPlayed: false, refusedEvent: null }
  around.fates.set(payment.id, befallen)
  const play = playerOf(around, payment, befallen)
  const next = (place: number, sinceMs: number) => {
    const event = fate.events[place]
    if (!event) {
      befallen.isPlayed = true
      world.saw(sightOf(chosen))
    } else if ('rest' in event) later(restOf(around, event.rest), () => next(place + 1, world.now))
    else if ('until' in event) {
      if (isIn(around, payment, event.until)) next(place + 1, world.now)
      else if (world.now - sinceMs < patienceMs) later(lookEveryMs, () => next(place, sinceMs))
    } else if ('operator' in event) throw new Error('operators decide by themselves')
    else if (play(event)) next(place + 1, world.now)
  }
  next(0, world.now)
}

/** Returns the fates of its plan alone. One of a checkout that is paid twice begins after the second payment, if none befell the first. */
function ownFates(
  { provider: { book }, fates: befallen }: Surroundings,
  payment: Payment,
  plan: PaymentPlan,
): readonly Fate[] {
  const earlier = chargesOf(book, payment).filter(({ id }) => id !== payment.id)
  const isComplete = plan.pays !== 'twice' || earlier.length > 0
  if (!isComplete || earlier.some(({ id }) => befallen.get(id)?.fate.events.length !== 0)) return []
  return fates.filter((fate) => fate.suits(plan) && !onPayments.includes(fate) && !isByOperator(fate))
}

/** Operators decide by themselves here. */
const isByOperator = ({ events }: Fate): boolean => events.some((event) => 'operator' in event)

/** Chooses a fate for a cash-out, and plays it. */
export function befallCashout(around: Surroundings, id: string, plan: CashoutPlan, later: Later): void {
  const { world, provider } = around
  const fate = weighted(
    fates.filter(({ suits }) => suits(plan)),
    randomIn(world),
  )
  const befallen: Befallen = { plan, fate, isPlayed: false, refusedEvent: null }
  around.fates.set(id, befallen)
  const startedMs = world.now
  const next = (place: number): void => {
    const event = fate.events[place]
    const state = world.rows.cashouts.get(id)?.state
    const wait = () => {
      const isOpen = state ? !cashoutEnds.includes(state) : world.now - startedMs < patienceMs
      if (isOpen) later(lookEveryMs, () => next(place))
    }
    if (!event) {
      befallen.isPlayed = true
      world.saw(sightOf(fate))
    } else if ('rest' in event) later(restOf(around, event.rest), () => next(place + 1))
    else if ('until' in event && state !== event.until) wait()
    else if ('until' in event) next(place + 1)
    else if (!('bank' in event || 'payout' in event))
      throw new Error(`a fate of payments befalls a cash-out: ${fate.name}`)
    // The bank may not have the transfer yet.
    else if (payoutsOf(provider.book, id).length === 0) wait()
    else {
      const { path, body } = controlOf(event, { id, opened: undefined, amount: undefined })!
      world.tell(`the bank: ${path} ${JSON.stringify(body)}`)
      if (happens(befallen, event, () => provider.control(path, body))) next(place + 1)
    }
  }
  next(0)
}

/** Makes an event happen. Returns false if the sandbox refuses it, which the audit finds. */
function happens(befallen: Befallen, event: OutsideEvent, happen: () => void): boolean {
  try {
    happen()
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    befallen.refusedEvent = `${JSON.stringify(event)}: ${error.message}`
    return false
  }
}

/** Name under which the simulation counts a fate that was played to its end. */
export const sightOf = ({ name }: Pick<Fate, 'name'>): string => `fate: ${name}`
export const fatesToSee: readonly string[] = fates.filter((fate) => !isByOperator(fate)).map(sightOf)

/** A rest ends at once, in the next ms, or by chance, so that every order of two events occurs. */
function restOf({ world: { choices } }: Surroundings, mostMs: number): number {
  const whim = oneOf(choices, 8)
  return whim < 2 ? whim : oneOf(choices, mostMs)
}

function isIn({ world, provider }: Surroundings, payment: Payment, status: string): boolean {
  const row = world.rows.payments.get(referenceOf(provider.book, payment))
  return row?.state === status || (status === 'credited' && row?.state === 'repaid')
}

/** Returns a function that makes an event happen. It returns false if the sandbox refuses it, which the audit finds. */
function playerOf(around: Surroundings, payment: Payment, befallen: Befallen): (event: OutsideEvent) => boolean {
  const { world, provider } = around
  const { id, account, capturedMinor } = payment
  const opened: string[] = []
  const chanceHere = randomIn(world)
  return (event) => {
    const share = shareOf(event)
    const amount =
      share === undefined
        ? undefined
        : majorFromMinor(minorOfShare(capturedMinor, share, chanceHere), currencyOf[account])
    const charge = 'open' in event ? event.charge : undefined
    const own = charge === undefined ? id : chargesOf(provider.book, payment)[charge]!.id
    const call = controlOf(event, { id: own, opened: opened[placeOf(event, opened.length)], amount })
    if (!call) return false
    const body = named(around, payment, call.body, event)
    world.tell(`the provider: ${call.path} ${JSON.stringify(body)}`)
    return happens(befallen, event, () => {
      const made = provider.control(call.path, body)
      if (!('open' in event)) return
      const path = `${event.open}s/${made.refund_id ?? made.id}`
      opened.push(path)
      noteNaming(around, path)
    })
  }
}

/**
 * Has an object name its payment if only an operator could tell it from another of the same checkout. A dispute itself need
 * not: operators or the chargeback that follows name its payment.
 */
function named(around: Surroundings, payment: Payment, body: JsonObject, event: OutsideEvent): JsonObject {
  if (!isOneOfTwo(around, payment) || ('open' in event && event.open === 'dispute')) return body
  if ('move' in event) return { ...body, names: 'payment' }
  return 'open' in event ? { ...body, names: 'payment', nameless: false } : body
}

function isOneOfTwo({ provider: { book } }: Surroundings, payment: Payment): boolean {
  return chargesOf(book, payment).length > 1
}

function noteNaming({ world, provider: { book } }: Surroundings, opened: string): void {
  const [kind = '', id = ''] = opened.split('/')
  const names = (kind === 'refunds' ? book.get('refunds', id) : book.get('disputes', id))?.names
  if (names !== undefined && names !== 'payment') world.saw('a refund or dispute named its payment by another id')
}
