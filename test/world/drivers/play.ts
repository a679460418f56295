import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { ExternalControls } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Random } from '#infra/sandbox/random'
import { failedPayouts } from '#infra/sandbox/records'
import { pause } from '#platform/deadline'
import { bank, entryNow } from '../../support/requests'
import { type Event, endsOf, type Fate, isUnpayable, plain, type Share } from '../fates'
import {
  type AutoRepayPlan,
  type CashoutPlan,
  type PaymentPlan,
  type Plan,
  pairOf,
  type SendPlan,
  type VerificationPlan,
} from '../people'
import type {
  AutoRepayDeed,
  CashoutDeed,
  Doubt,
  PaymentDeed,
  Record,
  SendDeed,
  VerificationDeed,
  WorldDeed,
} from '../record'
import { atProvider } from './at-provider'
import type { Answered } from './client'
import { controlOf, minorOfShare, type OpenedPath, type OutsideEvent, placeOf, shareOf } from './events'

/** Everything that playing a user needs. */
export type Scene = {
  readonly person: Person
  readonly outside: ExternalControls
  readonly record: Record
  readonly chance: Random
  readonly treasury: Address
  readonly signal: AbortSignal
  /** Sends a request until it is answered. Returns null if its outcome is unknown. */
  readonly ask: (path: string, body?: unknown) => Promise<Answered | null>
  /** Has an operator refund a payment in review. Returns false if it was not done. */
  readonly refundByOperator: (paymentId: string) => Promise<boolean>
}

/** A plan that is prepared up to its own request: with its quote, its debt, its signature. */
export type Prepared = {
  /** Sends the request. */
  readonly ask: () => Promise<void>
  /** Pays an accepted checkout; does nothing for other items. */
  readonly pay: () => Promise<void>
  /** Plays the fate of what `act` began. */
  readonly befall: () => Promise<void>
  readonly deed: WorldDeed
}

/** Prepares a plan. Returns undefined if the user cannot even begin, such as without a quote. */
export function prepare(scene: Scene, plan: Plan, fate: Fate): Promise<Prepared | undefined> {
  switch (plan.kind) {
    case 'topup':
    case 'settlement':
      return preparePayment(scene, plan, fate)
    case 'cashout':
      return prepareCashout(scene, plan, fate)
    case 'send':
      return prepareSend(scene, plan, fate)
    case 'verification':
      return prepareVerification(scene, plan, fate)
    case 'autorepay':
      return prepareAutoRepay(scene, plan, fate)
  }
}

/** Plays a plan and its fate from beginning to end. */
export async function play(scene: Scene, plan: Plan, fate: Fate): Promise<void> {
  const prepared = await prepare(scene, plan, fate)
  if (!prepared) return
  await act(prepared)
  await prepared.befall()
}

/** Sends the request, and pays. */
export async function act({ ask, pay }: Prepared): Promise<void> {
  await ask()
  await pay()
}

const nothingToPay = async () => {}

const commonOf = ({ person: { wallet } }: Scene, { name, requires }: Fate) => ({
  wallet,
  fate: name,
  requires,
  askedAtMs: Date.now(),
  refused: null,
  isPlayed: false,
  refusedEvent: null,
})

async function quoteOf(scene: Scene, pair: string): Promise<string | undefined> {
  const answered = await scene.ask('/quote', { pair })
  return answered && 'ok' in answered ? answered.ok.id : undefined
}

/** Draws, and waits until the service knows the debt. Returns false if the user cannot draw. */
async function draw({ person }: Scene, micro: bigint): Promise<boolean> {
  const before = BigInt((await person.me()).drawn)
  const isDrawn = await person.draw(micro).then(
    () => true,
    () => false, // The user has no collateral yet, or the chain is paused.
  )
  if (!isDrawn) return false
  return person
    .until('the debt to be final', (me) => BigInt(me.drawn ?? 0) >= before + micro, 30_000)
    .then(
      () => true,
      () => true, // Another settlement may have repaid it.
    )
}

async function preparePayment(scene: Scene, plan: PaymentPlan, fate: Fate): Promise<Prepared | undefined> {
  const { record } = scene
  const { kind, country, drawMicro, drawAgainMicro } = plan
  const pair = pairOf[country]
  const open = async (quoteId: string, deed: PaymentDeed) => {
    const method = plan.channel === 'CARDS' ? 'card' : 'qr'
    const body = kind === 'topup' ? { amount: String(plan.amountMinor), method, quoteId } : { quoteId }
    const answered = await scene.ask(kind === 'topup' ? '/topups' : '/settlements', body)
    if (answered && 'refused' in answered) deed.refused = answered.refused
    if (!answered || 'refused' in answered) return
    const { paymentId, ausd, fiat } = answered.ok
    deed.answer = { id: paymentId, ausdMicro: BigInt(ausd), fiatMinor: BigInt(fiat) }
  }
  if (drawMicro > 0n && !(await draw(scene, drawMicro))) return undefined
  let replaced: PaymentDeed | undefined
  if (drawAgainMicro > 0n) {
    const first = await quoteOf(scene, pair)
    if (!first) return undefined
    const isPaidLater = plan.pays === 'what was replaced'
    const requires = isPaidLater ? ({ money: 'kept' } as const) : ({ money: 'kept', ends: ['replaced'] } as const)
    const earlier = { ...plan, pays: isPaidLater ? 'late' : 'never' } as const
    replaced = record.note<PaymentDeed>({
      ...commonOf(scene, { ...fate, requires }),
      kind,
      plan: earlier,
      pair,
      answer: null,
      doubts: [],
    })
    await open(first, replaced)
    if (!(await draw(scene, drawAgainMicro))) return undefined
  }
  const quoteId = await quoteOf(scene, pair)
  if (!quoteId) return undefined
  const deed = record.note<PaymentDeed>({ ...commonOf(scene, fate), kind, plan, pair, answer: null, doubts: [] })
  let isPaid = false
  return {
    deed,
    ask: async () => {
      await open(quoteId, deed)
      if (deed.answer && replaced && plan.pays !== 'what was replaced') replaced.isPlayed = true
    },
    pay: async () => {
      if (!deed.answer) return
      if (plan.pays !== 'what was replaced') isPaid = await pay(scene, deed)
      else if (replaced?.answer) replaced.isPlayed = isPaid = await payAnyway(scene, replaced)
    },
    befall: async () => {
      deed.isPlayed = isPaid && (await playEvents(scene, deed, fate))
    },
  }
}

/** Pays an open, ended or paid checkout by the plan's channel, whatever the checkout offers. */
const payAnyway = ({ outside }: Scene, { plan, answer }: PaymentDeed, more = {}): Promise<boolean> =>
  atProvider(() => outside.control(`sessions/${answer!.id}/pay`, { channel_code: plan.channel, force: true, ...more }))

/** Pays by the plan. Returns false if the provider refused. */
async function pay(scene: Scene, deed: PaymentDeed): Promise<boolean> {
  const { outside, ask } = scene
  const { kind, plan, answer } = deed
  const { id, fiatMinor } = answer!
  const sender = plan.isUnknown ? { sender: 'UNKNOWN' } : {}
  const expire = () => outside.expire(id)
  const inTime = () => outside.control(`sessions/${id}/pay`, { channel_code: plan.channel, ...sender })
  const payAmount = (minor: bigint) => () =>
    outside.control(`sessions/${id}/pay`, { channel_code: plan.channel, amount: majorOf(plan, minor) })
  const cancel = () => ask(`/${kind}s/${id}/cancel`, {})
  switch (plan.pays) {
    case 'in time':
      return plan.channel === 'NOVELPAY' ? payAnyway(scene, deed) : atProvider(inTime)
    case 'late':
      return (await atProvider(expire)) && (await atProvider(inTime))
    case 'never':
      return (await atProvider(() => outside.fail(id))) && (await atProvider(expire))
    case 'twice':
      return (await atProvider(inTime)) && (await payAnyway(scene, deed))
    case 'while cancelling':
      return (await Promise.all([cancel(), atProvider(inTime)]))[1]
    case 'after cancelling':
      await cancel()
      return atProvider(inTime)
    case 'too little':
      return atProvider(payAmount((fiatMinor * 4n) / 5n))
    case 'late and too little':
      return (await atProvider(expire)) && (await atProvider(payAmount((fiatMinor * 4n) / 5n)))
    case 'what was replaced':
      return false // The other settlement is paid.
    case 'too much':
      return atProvider(payAmount(fiatMinor + 1n))
  }
}

/** Returns an amount as the provider writes it. */
const majorOf = ({ country }: PaymentPlan, minor: bigint): number =>
  country === 'MY' ? Number(minor) / 100 : Number(minor)

async function prepareCashout(scene: Scene, plan: CashoutPlan, fate: Fate): Promise<Prepared | undefined> {
  const { person, record, treasury, chance, signal } = scene
  const { valueMicro, accountNumber, requests, cancels, meanwhile } = plan
  const quotes = await Promise.all(Array.from({ length: requests }, () => quoteOf(scene, pairOf[plan.country])))
  if (quotes.some((one) => one === undefined)) return undefined
  const authorization = await person.sign({ to: treasury, valueMicro })
  const { nonce } = authorization
  const deeds = quotes.map(() =>
    record.note<CashoutDeed>({ ...commonOf(scene, fate), kind: 'cashout', plan, nonce, valueMicro, answer: null }),
  )
  const [deed] = deeds as [CashoutDeed]
  const request = async (index: number) => {
    const body = { quoteId: quotes[index], authorization, bank: { ...bank, accountNumber } }
    const answered = await scene.ask('/cashouts', body)
    if (answered && 'refused' in answered) deeds[index]!.refused = answered.refused
    if (!answered || 'refused' in answered) return
    const { payoutId: id, ausd, fiat } = answered.ok
    deeds[index]!.answer = { id, ausdMicro: BigInt(ausd), fiatMinor: BigInt(fiat) }
  }
  return {
    deed,
    pay: nothingToPay,
    ask: async () => {
      const asked = Promise.all(deeds.map((_, index) => request(index)))
      if (cancels === 'after the request') await asked
      if (cancels === 'during the request') await pause(chance.belowMs(600), signal)
      if (cancels !== 'never') await person.cancel(authorization).catch(() => {}) // It may be used already.
      await asked
      if (meanwhile === 'nothing' || deed.answer === null) return
      const spent = () => person.sign({ to: privateKeyToAddress(generatePrivateKey()), valueMicro })
      // The relayer may have been first.
      await person.submit(meanwhile === 'submitted' ? authorization : await spent()).catch(() => {})
    },
    befall: async () => {
      const isPlayed = deed.answer !== null && (await playEvents(scene, deed, fate))
      for (const one of deeds) one.isPlayed = isPlayed
    },
  }
}

async function prepareSend(scene: Scene, plan: SendPlan, fate: Fate): Promise<Prepared> {
  const { person, record } = scene
  const { valueMicro } = plan
  const to = privateKeyToAddress(generatePrivateKey())
  const authorization = await person.sign({ to, valueMicro })
  const { nonce } = authorization
  const deed = record.note<SendDeed>({
    ...commonOf(scene, fate),
    kind: 'send',
    plan,
    to,
    nonce,
    valueMicro,
    answer: null,
  })
  return {
    deed,
    pay: nothingToPay,
    ask: async () => {
      const answered = await scene.ask('/sends', { authorization })
      if (answered && 'refused' in answered) deed.refused = answered.refused
      if (answered && 'ok' in answered) deed.answer = { id: answered.ok.sendId }
    },
    befall: async () => {
      deed.isPlayed = deed.answer !== null
    },
  }
}

/** Prepares a user who has begun a verification, for which the provider approves the wallet. */
async function prepareVerification(scene: Scene, plan: VerificationPlan, fate: Fate): Promise<Prepared> {
  const { person, record, outside } = scene
  await person.me()
  if (plan.begins) await scene.ask('/me/verification', {})
  const deed = record.note<VerificationDeed>({ ...commonOf(scene, fate), kind: 'verification', plan, answer: null })
  return {
    deed,
    pay: nothingToPay,
    ask: async () => {
      deed.isPlayed = await atProvider(() => outside.identity(person.wallet, 'approved'))
    },
    befall: async () => {},
  }
}

/** More than any debt, in 10⁻⁶ AUSD, so that a repayment is for the whole of one. */
const autoRepayMaxMicro = 1_000_000_000n

/** Prepares a user who lets debts be repaid automatically. Returns undefined if the chain does not take the permission. */
async function prepareAutoRepay(scene: Scene, plan: AutoRepayPlan, fate: Fate): Promise<Prepared | undefined> {
  const { person, record } = scene
  if ((await person.me()).autoRepay?.source !== plan.source) {
    const isSet = await person.setAutoRepay(autoRepayMaxMicro, plan.source).then(
      () => true,
      () => false,
    )
    if (!isSet) return undefined
  }
  const deed = record.note<AutoRepayDeed>({ ...commonOf(scene, fate), kind: 'autorepay', plan, answer: null })
  return {
    deed,
    pay: nothingToPay,
    ask: async () => {
      deed.isPlayed = await draw(scene, plan.drawMicro)
    },
    befall: async () => {},
  }
}

/** Longest wait in ms until the bank has the transfer of a cash-out. */
const bankPatienceMs = 120_000

/** Plays the events of a fate in order. Returns false if one of them did not take place. */
async function playEvents(scene: Scene, deed: PaymentDeed | CashoutDeed, { events }: Fate): Promise<boolean> {
  const opened: OpenedObject[] = []
  for (const event of events) if (!(await playEvent(scene, deed, event, opened))) return false
  return true
}

/** A refund, chargeback or dispute that a fate has opened. */
type OpenedObject = { readonly path: OpenedPath; readonly id: string; minor: bigint | null }
/** A refund, chargeback or dispute as the sandbox's controls return it. A dispute has several amounts. */
type Opened = {
  readonly id: string
  readonly status: string
  readonly amount: number | { readonly initial: string }
}

async function playEvent(
  scene: Scene,
  deed: PaymentDeed | CashoutDeed,
  event: Event,
  opened: OpenedObject[],
): Promise<boolean> {
  const { outside, chance, signal, person } = scene
  const { id } = deed.answer!
  const control = async (path: string, body: object) => {
    let made: { id: string } | undefined
    const call = async () => {
      made = (await outside.control(path, body)) as { id: string }
    }
    const isDone = await atProvider(call, (reason) => {
      deed.refusedEvent = `${JSON.stringify(event)}: ${reason}`
    })
    return isDone ? made : undefined
  }
  if ('rest' in event) {
    await pause(chance.belowMs(event.rest), signal)
    return true
  }
  if ('until' in event) {
    while (!signal.aborted) {
      const ended = await entryNow(person, id, event.until, ...endsOf(deed.plan, plain)).catch(() => undefined)
      if (ended) return ended.status === event.until
      await pause(500, signal)
    }
    return false
  }
  if ('operator' in event) return scene.refundByOperator(id)
  const part = partOf(scene, deed, shareOf(event))
  const amount = part === undefined || deed.kind === 'cashout' ? undefined : majorOf(deed.plan, part)
  const charge = 'open' in event && event.charge !== undefined ? await chargeOf(scene, id, event.charge) : id
  if (charge === undefined) return false
  const call = controlOf(event, { id: charge, opened: opened[placeOf(event, opened.length)]?.path, amount })
  if (!call) return false
  if (deed.kind === 'cashout') {
    // The bank may not have the transfer yet. This continues after the users have stopped, so that no transfer stays open.
    const givesUpAt = performance.now() + bankPatienceMs
    for (;;) {
      if (await control(call.path, call.body)) return true
      if (!deed.refusedEvent?.includes('returned 404')) return false
      deed.refusedEvent = null
      const isOver = await entryNow(person, id, 'failed', 'returned').catch(() => undefined)
      if (isOver || performance.now() > givesUpAt) return false
      await pause(500)
    }
  }
  return playDoubt(deed, event, opened, part, () => control(call.path, call.body))
}

/** Returns the provider's id of a payment of a checkout that was paid several times, counted from 0. */
async function chargeOf({ outside }: Scene, id: string, place: number): Promise<string | undefined> {
  let found: string | undefined
  await atProvider(async () => {
    const { payments = [] } = await outside.book()
    const paid = payments.filter((one) => one.session_reference_id === id && one.captures.length > 0)
    found = paid[place]?.payment_id
  })
  return found
}

/** Plays an event of a payment, and notes what it says about its money: doubts end before it, and begin after it. */
async function playDoubt(
  { doubts, plan, answer }: PaymentDeed,
  event: OutsideEvent,
  objects: OpenedObject[],
  part: bigint | undefined,
  happen: () => Promise<object | undefined>,
): Promise<boolean> {
  const begin = (object: string, minor: bigint | null, isGone: boolean) => {
    const fromMs = Date.now()
    doubts.push({ object, minor, fromMs, goneMs: isGone ? fromMs : null, toMs: null })
  }
  const openOf = (object: string) => doubts.filter((one) => one.object === object && one.toMs === null)
  if ('show' in event) {
    const { id } = answer!
    const isVoid = event.show.status === 'CANCELED' || event.show.listed !== undefined
    if (!isVoid) endDoubts(doubts, id)
    if (!(await happen())) return false
    if (isVoid && openOf(id).length === 0) begin(id, null, true)
    return true
  }
  if ('open' in event) {
    const made = (await happen()) as Opened | undefined
    if (!made) return false
    const isForeign = event.body?.currency !== undefined
    const major = typeof made.amount === 'number' ? made.amount : Number(made.amount.initial)
    const minor = isForeign ? null : minorOf(plan, major)
    objects.push({ path: `${event.open}s/${made.id}`, id: made.id, minor })
    begin(made.id, minor, isOver(made.status))
    return true
  }
  const opened = objects[placeOf(event, objects.length)]
  if (!opened || 'tell' in event) return (await happen()) !== undefined
  if ('grow' in event) {
    if (!(await happen())) return false
    begin(opened.id, part! - (opened.minor ?? 0n), false)
    opened.minor = part!
    return true
  }
  const isGone = 'end' in event ? event.end === 'succeed' : 'move' in event && isOver(event.move)
  const goneMinor = part ?? opened.minor
  const isSame =
    openOf(opened.id).some(({ minor }) => minor === null || goneMinor === null) ||
    sumOf(openOf(opened.id)) === goneMinor
  if (!isGone || !isSame) endDoubts(doubts, opened.id)
  if (!(await happen())) return false
  if (!isGone) return true
  for (const doubt of openOf(opened.id)) doubt.goneMs ??= Date.now()
  if (openOf(opened.id).length === 0) begin(opened.id, goneMinor, true)
  return true
}

/** Returns true for the status of a refund, chargeback or dispute that took the money. */
const isOver = (status: string): boolean => ['SUCCEEDED', 'SUCCESS', 'LOST'].includes(status)

const sumOf = (doubts: readonly Doubt[]): bigint => doubts.reduce((sum, { minor }) => sum + (minor ?? 0n), 0n)

/** Ends the doubts about an object, before the provider shows their end. */
function endDoubts(doubts: readonly Doubt[], object: string): void {
  for (const doubt of doubts) if (doubt.object === object) doubt.toMs ??= Date.now()
}

function partOf({ chance }: Scene, { answer }: PaymentDeed | CashoutDeed, share: Share | undefined) {
  return share === undefined ? undefined : minorOfShare(answer!.fiatMinor, share, chance)
}

const minorOf = ({ country }: PaymentPlan, major: number): bigint =>
  BigInt(Math.round(country === 'MY' ? major * 100 : major))

/** Ends what remains pending at the provider because the response to a control was lost. */
export async function endPending({ book, control }: ExternalControls): Promise<void> {
  const { refunds = [], chargebacks = [], disputes = [], payments = [], payouts = [] } = await book()
  const end = (path: string, body = {}) => atProvider(() => control(path, body))
  for (const { id, status } of refunds)
    if (!['SUCCEEDED', 'FAILED'].includes(status)) await end(`refunds/${id}/succeed`)
  for (const { id, status } of chargebacks)
    if (status === 'PENDING') await end(`chargebacks/${id}`, { status: 'SUCCESS' })
  for (const { id, status } of disputes)
    if (!['WON', 'LOST'].includes(status)) await end(`disputes/${id}`, { status: 'LOST' })
  for (const { payment_id: id, status, captures, listed_status } of payments)
    if (captures.length > 0 && status !== 'SUCCEEDED' && listed_status === null) await end(`payments/${id}/tell`)
  // A bank that is late pays in the end, also if its user's flow was abandoned. One that has ended is refused.
  for (const { id, channel_properties } of payouts.filter(({ status }) => !endedPayouts.has(status))) {
    await end(`payouts/${id}/tell`)
    // A payout to an account that no payout reaches is left to the bank, which may be about to refuse it.
    if (!isUnpayable(channel_properties.account_number)) await end(`payouts/${id}/succeed`)
  }
}

const endedPayouts: ReadonlySet<string> = new Set(['SUCCEEDED', ...failedPayouts])
