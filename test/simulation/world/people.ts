import { currencyOf } from '#infra/sandbox/account'
import { majorFromMinor } from '#infra/sandbox/money'
import type { Payment, PaymentSession } from '#infra/sandbox/records'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { idFor, messageIdFor, uuidFor } from '#shared/ids'
import { CheckoutCancel, SettlementCreate, TopupCreate } from '#shared/messages/payments'
import { CashoutCreate } from '#shared/messages/payouts'
import { DripOrdered, VerifyOrdered } from '#shared/messages/relay'
import type { Question } from '#shared/messages/topic'
import { bank, pendingAccount } from '#test/support/requests'
import { cashout } from '#test/world/people'
import type { Transfer } from '../chain/calls'
import { befall, befallCashout } from './befall'
import { sessionOf } from './charges'
import { chance, oneOf, pick } from './choices'
import type { Copy, Surroundings } from './services'
import type { Wallet } from './wallets'

/** Channel codes by country; no country has the unknown one. */
const codes = {
  ID: { qr: 'QRIS', bank: 'MANDIRI_VIRTUAL_ACCOUNT', card: 'CARDS', ewallet: 'DANA', unknown: 'NOVELPAY' },
  MY: { qr: 'DUITNOW_PAY', bank: 'MAYB2U_FPX', card: 'CARDS', ewallet: 'TOUCHNGO', unknown: 'NOVELPAY' },
} as const

/** Bank accounts by what becomes of a payout to them. */
const accountNumbers = {
  pays: '12345678',
  fails: '123456',
  reverses: '654321',
  refuses: '700001',
  moody: '700002',
  late: pendingAccount,
} as const

export class People {
  pending = 0

  constructor(
    private readonly around: Surroundings,
    private readonly wallets: readonly Wallet[],
    /** Period in ms in which flows begin. */
    private readonly beginMs: number,
    private readonly copiesOf: (service: string) => readonly Copy[],
  ) {
    const { control } = around.provider
    const refuse = (account_number: string, refuses: number) =>
      control('accounts', { channel_code: 'ID_BCA', account_number, refuses })
    refuse(accountNumbers.refuses, 1)
    refuse(accountNumbers.moody, 0.6)
  }

  begin(flow: number): void {
    const { choices } = this.around.world
    const wallet = this.wallets[flow % this.wallets.length]!
    const startMs = oneOf(choices, this.beginMs)
    const kind = oneOf(choices, 100)
    if (kind < 1) return
    this.#later(startMs, () => {
      if (kind < 52) this.#topup(wallet)
      else if (kind < 65) this.#settlement(wallet)
      else if (kind < 92) this.#cashout(wallet, Math.floor(flow / this.wallets.length))
      else this.#identity(wallet)
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
    const call = () => {
      const copies = this.copiesOf(question.owner).filter(({ process }) => process.isAlive)
      const copy = copies[oneOf(world.choices, copies.length)]
      if (!copy) return
      const answering = copy.answers.find((one) => one.question.subject === question.subject)
      if (!answering) throw new Error(`no simulated service answers ${question.subject}`)
      world.current = copy.process
      void answering.answer({ ...request }).then(
        (answer) => tell(answer as never),
        (error) => world.noteBug(error),
      )
    }
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

  #topup(wallet: Wallet): void {
    const { world, pricing } = this.around
    const pair = pick(world.choices, ['USD/IDR', 'USD/IDR', 'USD/MYR'])
    const method = pick(world.choices, ['qr', 'bank', 'card'] as const)
    const amount = pair === 'USD/MYR' ? '5000' : '160000'
    const quoteId = pricing.quote(pair)
    const request = { wallet: wallet.address, amount, method, quoteId }
    let isOpen = false
    this.#ask(TopupCreate, request, ({ ok }) => {
      isOpen = true
      if (!ok) return
      this.#visit(ok.paymentId!, method)
      this.#changeMind('topup', wallet, ok.paymentId!)
    })
    // The response was lost, but the user pays anyway.
    this.#later(1_200, () => {
      if (!isOpen) this.#visit(idFor('payment', quoteId), method)
    })
  }

  #settlement(wallet: Wallet): void {
    const { world, pricing, drawn } = this.around
    drawn.set(wallet.address, (drawn.get(wallet.address) ?? 0n) + 4_000_000n)
    const open = (again: boolean) => {
      const request = { wallet: wallet.address, quoteId: pricing.quote('USD/IDR') }
      this.#ask(SettlementCreate, request, ({ ok }) => {
        if (!ok) return
        this.#visit(ok.paymentId!, pick(world.choices, ['qr', 'card', 'bank'] as const))
        this.#changeMind('settlement', wallet, ok.paymentId!)
        if (again && chance(world.choices, 500)) {
          world.saw('a second settlement was opened while one was open')
          this.#later(oneOf(world.choices, 6_000), () => open(false))
        }
      })
    }
    open(true)
  }

  #visit(paymentId: string, method: 'qr' | 'bank' | 'card'): void {
    const { world, provider } = this.around
    const { choices } = world
    const session = sessionOf(provider.book, paymentId)
    if (!session) return
    const whim = oneOf(choices, 100)
    const channel = pick(choices, [method, method, method, 'ewallet', 'unknown'] as const)
    const inTimeMs = oneOf(choices, 15_000)
    const pay = (after: number, amountMinor = session.amountMinor) =>
      this.#later(after, () => {
        if (this.#isUnclear(session)) return
        const paid = this.#pay(session, codes[session.account][channel], amountMinor)
        befall(this.around, paid, (ms, act) => this.#later(ms, act))
      })
    const wrongMinor = session.amountMinor + (oneOf(choices, 2) === 0 ? 7n : -7n)
    if (whim < 66) pay(inTimeMs)
    else if (whim < 76) {
      const isWrong = whim === 75
      pay(41_000 + oneOf(choices, 15_000), isWrong ? wrongMinor : session.amountMinor)
      if (whim < 70) this.#rateMoves(session)
    } else if (whim < 84) {
      pay(inTimeMs)
      pay(inTimeMs + pick(choices, [0, 20_000, 45_000]) + oneOf(choices, 3_000))
    } else if (whim < 88) pay(inTimeMs, wrongMinor)
    // The other users never pay.
  }

  /** Pays a checkout; a displayed code stays payable after expiry, and after a payment. */
  #pay({ id, account, amountMinor: askedMinor }: PaymentSession, code: string, amountMinor: bigint): Payment {
    const { world, provider } = this.around
    const { status } = provider.book.get('sessions', id)!
    if (provider.book.find('payments', ({ sessionId }) => sessionId === id)) world.saw('a checkout was paid twice')
    if (status === 'EXPIRED' || status === 'CANCELED') world.saw('an expired checkout was paid')
    if (amountMinor !== askedMinor) world.saw('a checkout was paid with another amount')
    const amount = majorFromMinor(amountMinor, currencyOf[account])
    // A merchant of virtual assets must not count the money of a payer whom the bank does not know.
    const isUnknown = code === codes.ID.bank && chance(world.choices, 300)
    if (isUnknown) world.saw('a payer was not verified')
    const asked = { channel_code: code, amount, force: true, ...(isUnknown && { sender: 'UNKNOWN' }) }
    const { payment_id: paymentId } = provider.control(`sessions/${id}/pay`, asked)
    world.tell(`${id} is paid by ${code}: ${paymentId}`)
    return provider.book.get('payments', String(paymentId))!
  }

  /** Cancels a checkout before, while or after the user pays. */
  #changeMind(kind: 'topup' | 'settlement', { address: wallet }: Wallet, id: string): void {
    const { world } = this.around
    if (!chance(world.choices, 120)) return
    this.#later(oneOf(world.choices, 20_000), () => {
      this.#ask(CheckoutCancel, { wallet, kind, id }, ({ ok }) => {
        const { status, reason } = (ok?.item ?? {}) as { status?: string; reason?: string }
        if (reason === 'cancelled') world.saw('a user cancelled a checkout')
        if (status === 'paid') world.saw('a user cancelled a checkout that was paid')
      })
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

  #cashout(wallet: Wallet, place: number): void {
    const { world, pricing, provider } = this.around
    const { choices } = world
    const authorization = wallet.authorizations[place]
    if (!authorization) return
    const quoteId = pricing.quote('USD/IDR')
    const { pays, fails, reverses, refuses, moody, late } = accountNumbers
    const accountNumber = pick(choices, [pays, pays, pays, pays, fails, reverses, refuses, moody, late])
    if (accountNumber === moody) provider.late.add(uuidFor('payout', quoteId))
    const destination = { channelCode: 'ID_BCA', accountNumber }
    const request = {
      wallet: wallet.address,
      quoteId,
      authorization,
      bank: { ...destination, accountHolderName: 'Sari Dewi' },
    }
    this.#ask(CashoutCreate, request, () => {})
    const plan = cashout({ accountNumber: accountNumber === pays ? bank.accountNumber : accountNumber })
    befallCashout(this.around, uuidFor('payout', quoteId), plan, (ms, act) => this.#later(ms, act))
    this.#elsewhere(authorization)
  }

  #elsewhere(authorization: SignedTransfer): void {
    const { world, chain } = this.around
    const { choices } = world
    const whim = oneOf(choices, 100)
    const terms = termsOf(authorization)
    const ms = oneOf(choices, 12_000)
    const act = (after: number, op: Parameters<typeof chain.foreign>[0]) => this.#later(after, () => chain.foreign(op))
    if (whim < 76) return
    if (whim < 83) act(ms, { kind: 'transfer', terms })
    else if (whim < 87) act(ms, { kind: 'cancel', terms })
    else {
      // The user spends the AUSD before the take. Sometimes it returns, and a third party submits the transfer.
      const elsewhere = `0x${'e1'.repeat(20)}` as const
      const moved = { ...terms, to: elsewhere, nonce: `0x${'00'.repeat(31)}${nextByte()}` as const }
      act(ms, { kind: 'transfer', terms: { ...moved, validAfter: 0n } })
      if (whim < 93) return
      const back = { ...moved, from: elsewhere, to: terms.from, nonce: terms.nonce }
      act(ms + 30_000, { kind: 'transfer', terms: back })
      act(ms + 34_000, { kind: 'transfer', terms })
    }
    function nextByte(): string {
      return (whim % 256).toString(16).padStart(2, '0')
    }
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
