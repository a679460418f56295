import type { Hex } from 'viem'
import { currencyOf } from '#infra/sandbox/account'
import { majorFromMinor } from '#infra/sandbox/money'
import { openRandom } from '#infra/sandbox/random'
import type { Payment, PaymentSession } from '#infra/sandbox/records'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { idFor, messageIdFor, uuidFor } from '#shared/ids'
import { CheckoutCancel, SettlementCreate, TopupCreate } from '#shared/messages/payments'
import { CashoutCreate } from '#shared/messages/payouts'
import { DripOrdered, VerifyOrdered } from '#shared/messages/relay'
import type { Question } from '#shared/messages/topic'
import { bank, moodyAccount, refusals } from '#test/support/requests'
import {
  type AutoRepayPlan,
  type CashoutPlan,
  type Habit,
  habits,
  type PaymentPlan,
  pairOf,
  settlement,
  verification,
  weighted,
} from '#test/world/people'
import type { Op, Transfer } from '../chain/calls'
import { blockMs } from '../chain/chain'
import { withdrawableOf, worldTerms } from '../chain/line'
import { befall, befallCashout } from './befall'
import { sessionOf } from './charges'
import { chance, oneOf, pick } from './choices'
import { autoRepayMaxMicro, meddlingsOf, sightOfMeddling, triesAfterMs } from './meddlings'
import { randomIn } from './provider'
import { askOne, type Copy, type Surroundings } from './services'
import type { Wallet } from './wallets'

// Plays the plans of the world of proof in virtual time. Each rest is drawn, so that every order of two steps occurs.

const isPlayed = ({ plan }: Habit): boolean => plan(openRandom()).kind !== 'send'
/** A send begins in a part of the gateway that is not simulated. Its order about a verification is. */
const played: readonly Habit[] = [
  ...habits.filter(isPlayed),
  { name: 'verification', weight: 3, byContracts: true, plan: () => verification() },
]
const sightOf = ({ name }: Habit): string => `plan: ${name}`
export const plansToSee: readonly string[] = played.map(sightOf)

export class People {
  pending = 0

  constructor(
    private readonly around: Surroundings,
    private readonly wallets: readonly Wallet[],
    /** Period in ms in which flows begin. */
    private readonly beginMs: number,
    private readonly copiesOf: (service: string) => readonly Copy[],
  ) {
    for (const refusal of refusals) around.provider.control('accounts', refusal)
  }

  begin(flow: number): void {
    const { world } = this.around
    const wallet = this.wallets[flow % this.wallets.length]!
    const startMs = oneOf(world.choices, this.beginMs)
    const random = randomIn(world)
    const habit = weighted(played, random)
    const plan = habit.plan(random)
    this.#later(startMs, () => {
      world.saw(sightOf(habit))
      if (plan.kind === 'topup') this.#topup(wallet, plan)
      else if (plan.kind === 'settlement') this.#settlement(wallet, plan)
      else if (plan.kind === 'cashout') this.#cashout(wallet, plan, Math.floor(flow / this.wallets.length))
      else if (plan.kind === 'verification') this.#identity(wallet)
      else if (plan.kind === 'autorepay') this.#autoRepay(wallet, plan)
    })
  }

  #later(ms: number, act: () => void): void {
    this.pending += 1
    this.around.world.after(ms, undefined, () => {
      this.pending -= 1
      act()
    })
  }

  /** Sends a request. A double click sends it twice at once. */
  #ask(
    question: Question,
    request: object,
    onAnswer: (answer: { ok?: Record<string, string>; refused?: string }) => void,
  ): void {
    const { world } = this.around
    let isAnswered = false
    const tell = (answer: { ok?: Record<string, string>; refused?: string }) => {
      if (isAnswered) return
      const isUnclear = !answer.ok && /_(unavailable|unconfirmed)$/.test(answer.refused ?? '')
      if (isUnclear) return
      isAnswered = true
      this.#later(1, () => onAnswer(answer))
    }
    const call = () => askOne(this.around, this.copiesOf(question.owner), { question, request }, tell)
    const attempt = (tries: number) => {
      if (isAnswered || tries > 5) return
      call()
      if (tries === 0 && chance(world.choices, 60)) {
        world.saw('a user sent a request twice at once')
        call()
      }
      this.#later(9_000, () => attempt(tries + 1))
    }
    attempt(0)
  }

  #topup(wallet: Wallet, plan: PaymentPlan): void {
    const { pricing } = this.around
    const quoteId = pricing.quote(pairOf[plan.country])
    const method = plan.channel === 'CARDS' ? 'card' : 'qr'
    const request = { wallet: wallet.address, amount: String(plan.amountMinor), method, quoteId }
    let isOpen = false
    this.#ask(TopupCreate, request, ({ ok }) => {
      isOpen = true
      if (ok) this.#visit(wallet, ok.paymentId!, plan)
    })
    // The response was lost, but the user pays anyway.
    this.#later(1_200, () => {
      if (!isOpen) this.#visit(wallet, idFor('payment', quoteId), plan)
    })
  }

  #settlement(wallet: Wallet, plan: PaymentPlan): void {
    const { world, pricing } = this.around
    const open = (onOpened: (paymentId: string) => void) => {
      const request = { wallet: wallet.address, quoteId: pricing.quote(pairOf[plan.country]) }
      this.#ask(SettlementCreate, request, ({ ok }) => ok && onOpened(ok.paymentId!))
    }
    const openFirst = () =>
      open((first) => {
        if (plan.drawAgainMicro === 0n) {
          this.#visit(wallet, first, plan)
          return
        }
        const again = () => {
          world.saw('a second settlement was opened while one was open')
          this.#draw(wallet, plan.drawAgainMicro, () =>
            open((second) => {
              if (plan.pays === 'what was replaced') this.#visit(wallet, first, { ...plan, pays: 'in time' })
              else this.#visit(wallet, second, plan)
            }),
          )
        }
        this.#later(oneOf(world.choices, 6_000), again)
      })
    this.#draw(wallet, plan.drawMicro, openFirst)
  }

  /** Draws, and goes on once the draw is in a block. Top-ups are the collateral, with a deposit if they are too little. */
  #draw({ address: wallet }: Wallet, amount: bigint, next: () => void): void {
    const { world, chain } = this.around
    const op = { kind: 'draw', wallet, amount } as const
    const isShort = chain.contract.refusalOf(op, chain.latest.number, chain.latest.timestamp) === 'LimitExceeded'
    if (isShort && chance(world.choices, 900)) chain.foreign({ kind: 'deposit', wallet, amount: 2n * amount })
    else if (amount > 0n && !isShort) world.saw('a user drew against top-ups')
    if (amount > 0n) chain.foreign(op)
    this.#later(blockMs, next)
  }

  /** Lets the debt be repaid automatically and draws. Often something else happens at the time of a try. */
  #autoRepay(of: Wallet, { drawMicro, source }: AutoRepayPlan): void {
    const { world, chain } = this.around
    const { choices } = world
    const { address: wallet } = of
    const bound = chance(choices, 150) ? drawMicro / 2n : autoRepayMaxMicro
    chain.foreign(
      // The draw of a meddling needs collateral too.
      { kind: 'deposit', wallet, amount: 3n * drawMicro },
      { kind: 'allow', wallet, max: bound, fromCollateral: source === 'collateral' },
      { kind: 'approve', wallet, amount: autoRepayMaxMicro },
      { kind: 'draw', wallet, amount: drawMicro },
    )
    const tryMs = pick(choices, triesAfterMs)
    const whim = oneOf(choices, 4)
    if (whim === 1 || whim === 2) this.#meddle(wallet, { drawMicro, source }, tryMs)
    if (whim === 3)
      this.#later(tryMs - oneOf(choices, 12_000), () => {
        world.saw('a user paid a debt that is repaid automatically')
        this.#settlement(of, settlement({ channel: pick(choices, ['BCA_VIRTUAL_ACCOUNT', 'CARDS']), drawMicro: 0n }))
      })
  }

  /** Meddles about the time of a try, or once its transaction is signed. */
  #meddle(wallet: Hex, { drawMicro, source }: Pick<AutoRepayPlan, 'drawMicro' | 'source'>, tryMs: number): void {
    const { world, chain } = this.around
    const { choices } = world
    const { name, begins, ends } = pick(choices, meddlingsOf(source))
    const account = () => chain.contract.accountAt(wallet, chain.latest.number, chain.latest.timestamp)
    const balance = () => account().balance
    const withdrawable = () => withdrawableOf(account(), worldTerms)
    const scene = { wallet, drawMicro, balance, withdrawable, nowMs: () => world.now }
    const endsAfterMs = ends && chance(choices, 700) ? oneOf(choices, 16_000) : undefined
    const act = () => {
      world.saw(sightOfMeddling(name))
      world.tell(`${wallet}: ${name}`)
      chain.foreign(...begins(scene))
      if (ends && endsAfterMs !== undefined) this.#later(endsAfterMs, () => chain.foreign(...ends(scene)))
    }
    if (chance(choices, 500)) {
      this.#later(tryMs + oneOf(choices, 6_000), act)
      return
    }
    const isSigned = () =>
      world.rows.operations.by('wallet', wallet).some(({ kind, state }) => kind === 'autorepay' && state === 'assigned')
    const look = (looks: number) => {
      if (isSigned()) act()
      else if (looks > 0) this.#later(blockMs / 2, () => look(looks - 1))
    }
    this.#later(triesAfterMs[0]!, () => look(60))
  }

  /** Pays a checkout by the plan, if its session is there. */
  #visit(wallet: Wallet, paymentId: string, plan: PaymentPlan): void {
    const { world, provider } = this.around
    const { choices } = world
    const session = sessionOf(provider.book, paymentId)
    if (!session) return
    const { amountMinor } = session
    const pay = (after: number, minor = amountMinor) =>
      this.#later(after, () => {
        if (this.#isUnclear(session)) return
        const paid = this.#pay(session, plan, minor)
        befall(this.around, paid, plan, (ms, act) => this.#later(ms, act))
      })
    const inTimeMs = oneOf(choices, 15_000)
    const lateMs = 41_000 + oneOf(choices, 15_000)
    switch (plan.pays) {
      case 'in time':
        pay(inTimeMs)
        break
      case 'late':
        if (chance(choices, 500)) this.#rateMoves(session)
        pay(lateMs)
        break
      case 'never':
        break
      case 'too little':
        pay(inTimeMs, (amountMinor * 4n) / 5n)
        break
      case 'too much':
        pay(inTimeMs, amountMinor + 1n)
        break
      case 'late and too little':
        pay(lateMs, (amountMinor * 4n) / 5n)
        break
      case 'twice':
        pay(inTimeMs)
        pay(inTimeMs + pick(choices, [0, 20_000, 45_000]) + oneOf(choices, 3_000))
        break
      case 'while cancelling':
        this.#later(inTimeMs, () => this.#cancel(wallet, plan.kind, paymentId))
        pay(Math.max(0, inTimeMs - 200 + oneOf(choices, 1_000)))
        break
      case 'after cancelling': {
        const payLater = () => pay(oneOf(choices, 15_000))
        this.#later(inTimeMs, () => this.#cancel(wallet, plan.kind, paymentId, payLater))
        break
      }
      case 'what was replaced':
        throw new Error('only a settlement is replaced')
    }
  }

  /** Pays a checkout; a displayed code stays payable after expiry, and after a payment. */
  #pay(session: PaymentSession, { channel, isUnknown }: PaymentPlan, amountMinor: bigint): Payment {
    const { world, provider } = this.around
    const { id, account, amountMinor: askedMinor } = session
    const { status } = provider.book.get('sessions', id)!
    if (provider.book.find('payments', ({ sessionId }) => sessionId === id)) world.saw('a checkout was paid twice')
    if (status === 'EXPIRED' || status === 'CANCELED') world.saw('an expired checkout was paid')
    if (amountMinor !== askedMinor) world.saw('a checkout was paid with another amount')
    if (isUnknown) world.saw('a payer was not verified')
    const amount = majorFromMinor(amountMinor, currencyOf[account])
    const asked = { channel_code: channel, amount, force: true, ...(isUnknown && { sender: 'UNKNOWN' }) }
    const { payment_id: paymentId } = provider.control(`sessions/${id}/pay`, asked)
    world.tell(`${id} is paid by ${channel}: ${paymentId}`)
    return provider.book.get('payments', String(paymentId))!
  }

  #cancel({ address: wallet }: Wallet, kind: PaymentPlan['kind'], id: string, onAnswer = () => {}): void {
    const { world } = this.around
    this.#ask(CheckoutCancel, { wallet, kind, id }, ({ ok }) => {
      const { status, reason } = (ok?.item ?? {}) as { status?: string; reason?: string }
      if (reason === 'cancelled') world.saw('a user cancelled a checkout')
      if (status === 'paid') world.saw('a user cancelled a checkout that was paid')
      onAnswer()
    })
  }

  #rateMoves({ account }: PaymentSession): void {
    const { world, pricing } = this.around
    const currency = currencyOf[account]
    const [pair, rate] = currency === 'IDR' ? ['USD/IDR', '16900'] : ['USD/MYR', '440']
    this.#later(20_000, () => {
      pricing.rates.set(pair!, rate!)
      world.tell(`the rate is now ${rate} ${currency} per dollar`)
    })
  }

  /** Returns true if a refund or dispute does not name its payment, so that only an operator could tell it from another. */
  #isUnclear({ id }: PaymentSession): boolean {
    const { book } = this.around.provider
    const isIts = ({ paymentId }: { paymentId: string }) => book.get('payments', paymentId)?.sessionId === id
    return (
      book.all('refunds').some((one) => one.nameless && isIts(one)) ||
      [...book.all('disputes'), ...book.all('chargebacks')].some((one) => one.names !== 'payment' && isIts(one))
    )
  }

  /** Cashes out the AUSD of an authorization that the wallet signed before the world began, whatever the plan's value. */
  #cashout(wallet: Wallet, plan: CashoutPlan, place: number): void {
    const { pricing, provider } = this.around
    const authorization = wallet.authorizations[place]
    if (!authorization) return
    const { accountNumber } = plan
    for (let request = 0; request < plan.requests; request++) {
      const quoteId = pricing.quote(pairOf[plan.country])
      const id = uuidFor('payout', quoteId)
      if (accountNumber === moodyAccount) provider.late.add(id)
      const asked = { wallet: wallet.address, quoteId, authorization, bank: { ...bank, accountNumber } }
      this.#ask(CashoutCreate, asked, () => {})
      befallCashout(this.around, id, plan, (ms, act) => this.#later(ms, act))
    }
    this.#elsewhere(authorization, plan)
  }

  /** Uses or cancels the authorization on the chain, at any time after the request. */
  #elsewhere(authorization: SignedTransfer, { cancels, meanwhile }: CashoutPlan): void {
    const { world, chain } = this.around
    const { choices } = world
    const terms = termsOf(authorization)
    const ms = oneOf(choices, cancels === 'during the request' ? 600 : 12_000)
    const act = (after: number, op: Op) => this.#later(after, () => chain.foreign(op))
    if (cancels !== 'never') act(ms, { kind: 'cancel', terms })
    if (meanwhile === 'submitted') act(ms, { kind: 'transfer', terms })
    if (meanwhile !== 'spent') return
    // The user spends the AUSD before the take. Sometimes it returns, and a third party submits the transfer.
    const elsewhere = `0x${'e1'.repeat(20)}` as const
    const moved = { ...terms, to: elsewhere, nonce: `0x${'00'.repeat(31)}5e` as const }
    act(ms, { kind: 'transfer', terms: { ...moved, validAfter: 0n } })
    if (chance(choices, 500)) return
    act(ms + 30_000, { kind: 'transfer', terms: { ...moved, from: elsewhere, to: terms.from } })
    act(ms + 34_000, { kind: 'transfer', terms })
  }

  /** Decides about an identity; a verdict may be withdrawn later. */
  #identity({ address: wallet }: Wallet): void {
    const { world, broker } = this.around
    const order = (verified: boolean, revision: string, repeat: number) => {
      const id = messageIdFor(VerifyOrdered, `${wallet}:${revision}`, repeat)
      const payload = { wallet, verified, revision }
      broker.publish({ id, subject: VerifyOrdered.subject, payload })
    }
    const drip = (repeat: number) => {
      const id = messageIdFor(DripOrdered, wallet, repeat)
      broker.publish({ id, subject: DripOrdered.subject, payload: { wallet } })
    }
    order(true, '1', 0)
    drip(0)
    this.#later(3_000, () => drip(1))
    if (chance(world.choices, 400)) this.#later(oneOf(world.choices, 5_000), () => order(false, '2', 0))
    this.#later(6_000, () => order(true, '1', 1))
  }
}

const termsOf = (authorization: SignedTransfer): Transfer => ({
  from: authorization.from,
  to: authorization.to,
  value: BigInt(authorization.value),
  validAfter: BigInt(authorization.validAfter),
  validBefore: BigInt(authorization.validBefore),
  nonce: authorization.nonce,
})
