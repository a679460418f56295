import { afterAll, describe, expect, test } from 'bun:test'
import type { Static } from 'typebox'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { pause } from '#platform/deadline'
import { okOf } from '#shared/client/client'
import { GivebackOrder, SendCreate } from '#shared/messages/chain'
import {
  CheckoutCancel,
  DisputeCharge,
  LossGivenBack,
  PaymentTakenBack,
  RefundGiveUp,
  ReviewResolve,
  SettlementCreate,
  TopupCreate,
  TopupRefund,
  WalletClear,
  WalletFreeze,
  WalletReclaim,
} from '#shared/messages/payments'
import {
  AccountCheck,
  AccountRefuse,
  CashoutCancel,
  CashoutCreate,
  CashoutGiveUp,
  CashoutHold,
} from '#shared/messages/payouts'
import { FlagOrder, PersonRule, PersonWithdraw } from '#shared/messages/person'
import { QuoteTake } from '#shared/messages/pricing'
import { type Question, type RequestOf, serviceNames } from '#shared/messages/topic'
import { query } from '../support/database'
import { bank } from '../support/requests'
import { suspend, waitUntil } from '../support/wait'
import { play } from '../world/drivers/play'
import { plain } from '../world/fates'
import { cashout, type Plan, send, settlement, topup } from '../world/people'
import { type Load, startLoad } from './load'
import { commandOf, decisions, erasures, giveUpOne, outcomeOf, pauses } from './operator-commands'
import { askEveryCopy } from './twice'
import { ended, expectNothingFound, failuresOf, openLoadedWorld, tellOf } from './world'

const world = await openLoadedWorld(4)
afterAll(() => world[Symbol.asyncDispose]())
const { stack } = world

/** Interval of steps in ms, each of which makes four requests, some of them in sequence. */
const paceMs = 250
const betweenMs = 1_000
const copies = [1, 2] as const
/** Services that may be killed without losing a request; one that a dead gateway has taken is lost. */
const behindGateway = serviceNames.filter((name) => name !== 'gateway')

/** Works under load and expects that every request gets a 200 and every flow ends. */
async function underLoad(what: string, work: (load: Load) => Promise<void>): Promise<Load> {
  const load = startLoad(world, paceMs)
  await pause(betweenMs)
  await work(load)
  await pause(betweenMs)
  await load.stop()
  const lastMs = await ended(world)
  console.log(`${what}: ${tellOf(load.seen)}; ${world.record.deeds.length} flows, the last ${lastMs} ms later`)
  expect(failuresOf(load.seen)).toEqual([])
  return load
}

describe('two instances of every service under load', () => {
  test('are all restarted one after another: no request fails, and none is lost', async () => {
    await underLoad('rolling restart', async () => {
      for (const name of serviceNames)
        for (const copy of copies) {
          const one = stack.process(name, copy)
          await one.stop('SIGTERM')
          one.start()
          await stack.allCopies()
          await pause(betweenMs)
        }
    })
  })

  test.each(behindGateway)('of which one of %s is frozen: every answer comes, in 2 s', async (name) => {
    const load = await underLoad(`${name} frozen`, async () => {
      const one = stack.process(name)
      await suspend(one.pid())
      try {
        await pause(3_000)
      } finally {
        one.kill('SIGCONT')
      }
    })
    const reads = load.seen.filter(({ path }) => path === '/me' || path === '/quote')
    expect(Math.max(...reads.map(({ tookMs }) => tookMs))).toBeLessThan(2_000)
  })

  test.each(behindGateway)('of which one of %s is killed: no request fails', async (name) => {
    await underLoad(`${name} killed`, async () => {
      stack.process(name).kill('SIGKILL')
      await pause(betweenMs)
      await stack.allCopies()
    })
  })
})

describe('the same request, sent to both instances at once, is answered the same and takes effect once', () => {
  const person = world.people[0]!
  const { wallet } = person
  const same = async <Q extends Question>(question: Q, request: RequestOf<Q>) => {
    const answers = await askEveryCopy(stack, question, request)
    expect(answers).toHaveLength(2)
    expect(answers[0]).toEqual(answers[1]!)
    expect(answers[0]).toHaveProperty('ok')
    return (answers[0] as { ok: Static<Q['answer']> }).ok
  }
  const quote = async (): Promise<string> => (await person.quote('USD/IDR')).id

  test('for the taking of a quote', async () => {
    await same(QuoteTake, { quoteId: await quote(), requestFingerprint: 'a' })
  })

  /** Plays a plan whose requests go to both instances at once. */
  const playOnBoth = async (plan: Plan) => {
    const asked: { readonly [path: string]: Question } = {
      '/topups': TopupCreate,
      '/settlements': SettlementCreate,
      '/cashouts': CashoutCreate,
      '/sends': SendCreate,
    }
    const ask = async (path: string, body?: unknown) => {
      const question = asked[path]
      if (!question) return { ok: await person.insist(path, body).then(({ body: answer }) => answer) }
      return { ok: await same(question, { wallet, ...(body as object) } as never) }
    }
    await play(world.sceneOf(person, world.record, { ask }), plan, plain)
    return world.record.deeds.at(-1)!.answer!.id
  }
  const expectOneCheckout = async (id: string) => {
    const { sessions } = await world.outside.book()
    expect(sessions!.filter((one) => JSON.stringify(one).includes(id))).toHaveLength(1)
  }

  test('for a top-up: one checkout is opened', async () => {
    await expectOneCheckout(await playOnBoth(topup({ amountMinor: 500_000 })))
  })

  test('for the cancellation of a checkout', async () => {
    const topup = { wallet, amount: '50000', method: 'qr' as const, quoteId: await quote() }
    const { paymentId: id } = await same(TopupCreate, topup)
    const { item } = await same(CheckoutCancel, { wallet, kind: 'topup', id })
    expect(item).toMatchObject({ id, status: 'expired', reason: 'cancelled' })
  })

  test('for a settlement: one checkout is opened', async () => {
    await ended(world) // The top-up allows a draw.
    await expectOneCheckout(await playOnBoth(settlement({ drawMicro: 1_000_000n })))
    await person.until('the debt being repaid', (me) => me.drawn === '0')
  })

  test('for a cash-out', async () => void (await playOnBoth(cashout())))
  test('for a send', async () => void (await playOnBoth(send(100_000n))))

  test('for a check of a bank account: one request to the provider', async () => {
    await same(AccountCheck, { wallet, bank })
    const checks = `select id from payouts.account_checks where wallet = '${wallet}'`
    expect(await query(stack, checks)).toHaveLength(1)
  })
})

describe("an operator's command, sent to both instances at once, takes effect once", () => {
  test.each(pauses)('a pause, and its end (%p)', async (question) => {
    for (const [revision, to] of (['paused', 'running'] as const).entries())
      expect(await outcomeOf(stack, question, { ...commandOf(), to, revision })).toBe('done')
  })

  test.each(decisions)('dead letters of %s are left unchanged by an empty decision', async (service, question) => {
    const death = await giveUpOne(stack, service)
    const dismiss = { ...commandOf(), decision: 'dismiss' as const, ...death }
    expect(await outcomeOf(stack, question, dismiss)).toBe('done')
    const again = { ...dismiss, decision: 'redrive' as const }
    expect(await outcomeOf(stack, question, again)).toBe('refused')
  })

  test('a payment in review is refunded', async () => {
    const person = world.people[1]!
    const { id: quoteId } = await person.quote('USD/IDR')
    const { paymentId } = okOf(await person.api.topUp({ amount: '500000', method: 'qr', quoteId }))
    await world.outside.control(`sessions/${paymentId}/pay`, {
      channel_code: 'QRIS',
      amount: 400_000,
    })
    const stateIs = (state: string) =>
      waitUntil(`the payment being ${state}`, async () => {
        const [row] = await query<{ state: string }>(
          stack,
          `select state from payments.payments where id = '${paymentId}'`,
        )
        return row!.state === state
      })
    await stateIs('review')
    const resolve = { ...commandOf(), paymentId, resolution: 'refund' as const }
    expect(await outcomeOf(stack, ReviewResolve, resolve)).toBe('done')
    await stateIs('refunded')
    const { refunds = [] } = await world.outside.book()
    const ordered = refunds.filter(({ reference_id: of }) => String(of).startsWith(`ordered-${paymentId}`))
    expect(ordered).toHaveLength(1)
    expect(ordered[0]).toMatchObject({ amount: 400_000, status: 'SUCCEEDED' })
  })

  test('a decision about the person of a wallet', async () => {
    const { wallet } = world.people[2]!
    const ruled = { ...commandOf(), wallet, linkedTo: null, replaced: null }
    expect(await outcomeOf(stack, PersonRule, ruled)).toBe('done')
    const other = { ...ruled, ...commandOf() }
    expect(await outcomeOf(stack, PersonRule, other)).toBe('refused')
    const { command: replaced } = ruled
    const withdrawn = { ...commandOf(), wallet, to: 'withdrawn' as const, replaced }
    expect(await outcomeOf(stack, PersonWithdraw, withdrawn)).toBe('done')
  })

  test('a flag that was never given up is not ordered', async () => {
    const { wallet } = world.people[1]!
    const asked = { ...commandOf(), wallet, revision: '1' }
    expect(await outcomeOf(stack, FlagOrder, asked)).toBe('refused')
  })

  test.each(erasures)('an erasure by %s', async (_, question) => {
    const wallet = privateKeyToAddress(generatePrivateKey())
    for (const check of [true, false])
      expect(await outcomeOf(stack, question, { ...commandOf(), wallet, check })).toBe('done')
  })

  test('a freeze by hand, and its end', async () => {
    const { wallet } = world.people[3]!
    const frozen = { ...commandOf(), wallet, to: 'frozen' as const, revision: '0' }
    expect(await outcomeOf(stack, WalletFreeze, frozen)).toBe('done')
    const [row] = await query<{ revision: string }>(
      stack,
      `select revision::text from payments.wallets where wallet = '${wallet}'`,
    )
    const freed = { ...commandOf(), wallet, to: 'free' as const, revision: row!.revision }
    expect(await outcomeOf(stack, WalletFreeze, freed)).toBe('done')
  })

  test('a refusal of a bank account, and its end', async () => {
    const of = { channelCode: bank.channelCode, accountNumber: '5550001234' }
    for (const [revision, to] of (['refused', 'allowed'] as const).entries())
      expect(await outcomeOf(stack, AccountRefuse, { ...commandOf(), of, to, revision })).toBe('done')
  })

  test('a freeze, loss, transfer or cash-out that does not exist changes nothing', async () => {
    const { wallet } = world.people[1]!
    const never = { revision: '0', missing: '0' }
    expect(await outcomeOf(stack, WalletClear, { ...commandOf(), wallet, ...never })).toBe('refused')
    expect(await outcomeOf(stack, WalletReclaim, { ...commandOf(), wallet, clearing: '1' })).toBe('refused')
    const credited = { paymentId: 'pay_unknown', transfers: [`0x${'5'.repeat(64)}:1`], back: '1' }
    expect(await outcomeOf(stack, TopupRefund, { ...commandOf(), ...credited })).toBe('refused')
    const payoutId = crypto.randomUUID()
    const held = { payoutId, to: 'held' as const, revision: 0 }
    expect(await outcomeOf(stack, CashoutHold, { ...commandOf(), ...held })).toBe('refused')
    expect(await outcomeOf(stack, CashoutCancel, { ...commandOf(), payoutId })).toBe('refused')
    expect(await outcomeOf(stack, CashoutGiveUp, { ...commandOf(), payoutId })).toBe('refused')
    const loss = { paymentId: 'pay_unknown', micro: '1' }
    expect(await outcomeOf(stack, LossGivenBack, { ...commandOf(), ...loss })).toBe('refused')
    const taken = { paymentId: 'pay_unknown', transactionId: 'txn_1', minor: '1' }
    expect(await outcomeOf(stack, PaymentTakenBack, { ...commandOf(), ...taken })).toBe('refused')
    const ordered = { paymentId: 'pay_unknown', reference: 'ordered-pay_unknown_1' }
    expect(await outcomeOf(stack, RefundGiveUp, { ...commandOf(), ...ordered })).toBe('refused')
    const dispute = { disputeId: 'dspt_unknown', charge: 'py-unknown' }
    expect(await outcomeOf(stack, DisputeCharge, { ...commandOf(), ...dispute })).toBe('refused')
    const transfer = { txHash: `0x${'5'.repeat(64)}` as const, logIndex: 0 }
    expect(await outcomeOf(stack, GivebackOrder, { ...commandOf(), ...transfer })).toBe('done')
    expect(await query(stack, 'select tx_hash from chain_relayer.giveback_request')).toHaveLength(1)
  })
})

describe('the lanes', () => {
  const holders = async () => {
    const rows = await query<{ holder: string | null }>(
      stack,
      'select holder from chain_relayer.lane where leased_until > now()',
    )
    return rows.map(({ holder }) => holder)
  }
  const shared = (byCopies: number) =>
    waitUntil('the lanes being shared', async () => {
      const held = await holders()
      return held.length === 2 && new Set(held).size === byCopies
    })

  test('belong to one instance each, move after a stop and after a kill, and are shared again', async () => {
    const one = stack.process('chain-relayer', 2)
    await shared(2)
    await one.stop('SIGTERM')
    await shared(1)
    one.start()
    await shared(2)
    await one.stop('SIGKILL')
    await shared(1)
    one.start()
    await shared(2)
  })
})

test('after the restarts nothing was done twice, and the books balance', async () => {
  await ended(world)
  await expectNothingFound(world)
})
