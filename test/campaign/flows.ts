import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { ExternalControls } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Random } from '#infra/sandbox/random'
import { pause } from '#platform/deadline'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { bank, refusedAccount, reversedAccount } from '../support/requests'
import { atProvider } from './at-provider'
import { ask } from './client'
import { fates, giveBack } from './money-back'
import type { CashoutDeed, Fate, PaymentDeed, Record, SendDeed } from './record'

export type Scene = {
  readonly person: Person
  readonly outside: ExternalControls
  readonly record: Record
  readonly chance: Random
  readonly treasury: Address
  readonly signal: AbortSignal
}
type Flow = (scene: Scene) => Promise<void>
type Pair = PaymentDeed['pair']

const quoteOf = async ({ record, person }: Scene, pair: Pair): Promise<string | undefined> => {
  const answered = await ask(record, person, '/quote', { pair })
  return answered && 'ok' in answered ? answered.ok.id : undefined
}

async function checkout(
  scene: Scene,
  kind: 'topup' | 'settlement',
  pair: Pair,
  method: 'qr' | 'card' = 'qr',
): Promise<PaymentDeed | undefined> {
  const { record, person, chance } = scene
  const quoteId = await quoteOf(scene, pair)
  if (!quoteId) return undefined
  const amount = pair === 'USD/IDR' ? 20_000 + chance.belowMs(200) * 500 : 800 + chance.belowMs(900)
  const { wallet } = person
  const deed = record.note<PaymentDeed>({ kind, wallet, pair, answer: null, after: new Set() })
  const body = kind === 'topup' ? { amount: String(amount), method, quoteId } : { quoteId }
  const answered = await ask(record, person, kind === 'topup' ? '/topups' : '/settlements', body)
  if (!answered || 'refused' in answered) return undefined
  const { paymentId, ausd, fiat } = answered.ok
  deed.answer = { id: paymentId, ausdMicro: BigInt(ausd), fiatMinor: BigInt(fiat) }
  return deed
}

async function pay(scene: Scene, deed: PaymentDeed, channel: string) {
  const { id } = deed.answer!
  deed.after.add('paid')
  return atProvider(() => scene.outside.pay(id, channel))
}

const topup =
  (pair: Pair, channel: string): Flow =>
  async (scene) => {
    const deed = await checkout(scene, 'topup', pair, channel === 'CARDS' ? 'card' : 'qr')
    if (deed) await pay(scene, deed, channel)
  }

const declined: Flow = async (scene) => {
  const deed = await checkout(scene, 'topup', 'USD/IDR')
  if (!deed) return
  deed.after.add('declined')
  const { outside } = scene
  await atProvider(() => outside.fail(deed.answer!.id))
  await atProvider(() => outside.expire(deed.answer!.id))
}

const paidLate: Flow = async (scene) => {
  const deed = await checkout(scene, 'topup', 'USD/IDR')
  if (!deed) return
  deed.after.add('expired first')
  await atProvider(() => scene.outside.expire(deed.answer!.id))
  await pay(scene, deed, 'QRIS')
}

/** Returns a flow whose payment is reversed, within the hold if it was by card and else after the credit. */
const goesBack =
  (kind: PaymentDeed['kind'], fate: Fate, pair: Pair = 'USD/IDR'): Flow =>
  async (scene) => {
    const { chance, signal } = scene
    if (kind === 'settlement' && !(await borrow(scene))) return
    const isCard = chance.belowMs(4) > 0
    const deed = await checkout(scene, kind, pair, isCard ? 'card' : 'qr')
    if (!deed || !(await pay(scene, deed, isCard ? 'CARDS' : instantOf[pair]))) return
    await pause(chance.belowMs(4_000), signal)
    await giveBack(scene, deed, fate)
  }
/** Channels whose payments are credited at once. */
const instantOf = { 'USD/IDR': 'QRIS', 'USD/MYR': 'MAYB2U_FPX' } as const

async function borrow({ person, chance }: Scene): Promise<boolean> {
  const amountMicro = 200_000n + BigInt(chance.belowMs(300_000))
  return person.draw(amountMicro).then(
    () => true,
    () => false, // The user has no collateral yet, or the chain is paused.
  )
}

const settlement =
  (channel: string): Flow =>
  async (scene) => {
    await borrow(scene)
    const deed = await checkout(scene, 'settlement', 'USD/IDR')
    if (deed) await pay(scene, deed, channel)
  }

async function askCashout(
  { record, person }: Scene,
  quoteId: string,
  authorization: SignedTransfer,
  accountNumber = bank.accountNumber,
): Promise<CashoutDeed> {
  const { nonce, value } = authorization
  const deed = record.note<CashoutDeed>({
    kind: 'cashout',
    wallet: person.wallet,
    nonce,
    valueMicro: BigInt(value),
    answer: null,
  })
  const body = { quoteId, authorization, bank: { ...bank, accountNumber } }
  const answered = await ask(record, person, '/cashouts', body)
  if (answered && 'ok' in answered) {
    const { payoutId: id, ausd, fiat } = answered.ok
    deed.answer = { id, ausdMicro: BigInt(ausd), fiatMinor: BigInt(fiat) }
  }
  return deed
}

const cashout =
  (accountNumber: string, isReversed = false): Flow =>
  async (scene) => {
    const { person, chance, treasury, outside, signal } = scene
    const valueMicro = 1_500_000n + BigInt(chance.belowMs(900_000))
    const quoteId = await quoteOf(scene, 'USD/IDR')
    if (!quoteId) return
    const authorization = await person.sign({ to: treasury, valueMicro })
    const { answer } = await askCashout(scene, quoteId, authorization, accountNumber)
    if (!answer || !isReversed) return
    await pause(4_000, signal)
    await atProvider(() => outside.control(`payouts/${answer.id}/reverse`))
  }

const send: Flow = async (scene) => {
  const { person, record, chance } = scene
  const to = privateKeyToAddress(generatePrivateKey())
  const valueMicro = 50_000n + BigInt(chance.belowMs(200_000))
  const authorization = await person.sign({ to, valueMicro })
  const { nonce } = authorization
  const { wallet } = person
  const deed = record.note<SendDeed>({ kind: 'send', wallet, to, nonce, valueMicro, answer: null })
  const answered = await ask(record, person, '/sends', { authorization })
  if (answered && 'ok' in answered) deed.answer = { id: answered.ok.sendId }
}

/** Uses the same authorization in two requests at once, of which only one may succeed. */
const twice: Flow = async (scene) => {
  const { person, treasury } = scene
  const quotes = await Promise.all([quoteOf(scene, 'USD/IDR'), quoteOf(scene, 'USD/IDR')])
  const authorization = await person.sign({ to: treasury, valueMicro: 1_700_000n })
  await Promise.all(quotes.map((quoteId) => quoteId && askCashout(scene, quoteId, authorization)))
}

/** Cancels the authorization during the request or right after it, so that either transaction may come first. */
const cancelled: Flow = async (scene) => {
  const { person, treasury, chance, signal } = scene
  const quoteId = await quoteOf(scene, 'USD/IDR')
  if (!quoteId) return
  const valueMicro = 1_500_000n + BigInt(chance.belowMs(900_000))
  const authorization = await person.sign({ to: treasury, valueMicro })
  const asked = askCashout(scene, quoteId, authorization)
  if (chance.belowMs(2) === 0) await asked
  else await pause(chance.belowMs(600), signal)
  await person.cancel(authorization).catch(() => {}) // The authorization may be used already.
  await asked
}

type Kind = readonly [name: string, flow: Flow]

/** Flows of users with a private key; repeated entries are more frequent. */
const kinds: readonly Kind[] = [
  ['top-up by QR', topup('USD/IDR', 'QRIS')],
  ['top-up by QR', topup('USD/IDR', 'QRIS')],
  ['top-up by FPX', topup('USD/MYR', 'MAYB2U_FPX')],
  ['top-up by virtual account', topup('USD/IDR', 'BCA_VIRTUAL_ACCOUNT')],
  ['top-up by card', topup('USD/IDR', 'CARDS')],
  ...Object.keys(fates).flatMap((fate): Kind[] => [[`top-up ${fate}`, goesBack('topup', fate as Fate)]]),
  ['top-up in ringgit refunded', goesBack('topup', 'refunded', 'USD/MYR')],
  ['top-up in ringgit disputed', goesBack('topup', 'dispute won', 'USD/MYR')],
  ['settlement refunded', goesBack('settlement', 'refunded')],
  ['settlement refunded late', goesBack('settlement', 'refunded late')],
  ['settlement disputed', goesBack('settlement', 'dispute won')],
  ['settlement voided', goesBack('settlement', 'voided')],
  ['top-up declined', declined],
  ['top-up paid late', paidLate],
  ['settlement by virtual account', settlement('BCA_VIRTUAL_ACCOUNT')],
  ['settlement by card', settlement('CARDS')],
  ['cash-out', cashout(bank.accountNumber)],
  ['cash-out', cashout(bank.accountNumber)],
  ['cash-out reversed by hand', cashout(bank.accountNumber, true)],
  ['cash-out refused', cashout(refusedAccount)],
  ['cash-out reversed', cashout(reversedAccount)],
  ['send', send],
  ['send', send],
  ['cash-out asked for twice', twice],
  ['cash-out cancelled', cancelled],
]

/** Flows of contract wallets, which send no transactions and so cannot draw. */
const contractKinds: readonly Kind[] = [
  ['top-up by QR', topup('USD/IDR', 'QRIS')],
  ['cash-out', cashout(bank.accountNumber)],
  ['cash-out refused', cashout(refusedAccount)],
  ['send', send],
]

export function flowsWith(words: readonly string[]): Flows {
  const isMeant = ([name]: Kind) => words.length === 0 || words.some((one) => name.includes(one))
  const [own, contract] = [kinds, contractKinds].map((all) => all.filter(isMeant).map(([, flow]) => flow))
  if (own!.length === 0) throw new Error(`--flows matches no flow: ${words.join(', ')}`)
  return { own: own!, contract: contract! }
}
export type Flows = { readonly own: readonly Flow[]; readonly contract: readonly Flow[] }

/** Plays flows until the end. One that throws on the user's side is abandoned. */
export async function live(scene: Scene, flows: readonly Flow[], restMs: number): Promise<void> {
  const { chance, signal, record } = scene
  while (!signal.aborted && flows.length > 0) {
    await flows[chance.belowMs(flows.length)]!(scene).catch((error: Error) =>
      record.count(`abandoned: ${error.message.split('\n')[0]!.slice(0, 60)}`),
    )
    await pause(chance.belowMs(restMs), signal)
  }
}

/**
 * Has a payment reversed after its hold. This freezes the wallet, so each user does it once; half of them repay the
 * loss by a top-up.
 */
export async function giveBackAfterHold(scene: Scene): Promise<void> {
  const { record, person, chance, signal } = scene
  const deed = await checkout(scene, 'topup', 'USD/IDR', 'card')
  if (!deed || !(await pay(scene, deed, 'CARDS'))) return
  while (!signal.aborted) {
    const me = await ask(record, person, '/me')
    const { collateral } = me && 'ok' in me ? me.ok : { collateral: undefined }
    if (collateral && collateral.value !== '0' && collateral.pendingShares === '0') break
    await pause(1_000, signal)
  }
  if (signal.aborted) return
  const names = Object.keys(fates) as Fate[]
  const going = giveBack(scene, deed, names[chance.belowMs(names.length)]!)
  await pause(chance.belowMs(15_000), signal)
  if (!signal.aborted && chance.belowMs(2) === 0) await topup('USD/IDR', 'QRIS')(scene)
  await going
}
