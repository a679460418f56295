import { afterEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createWalletClient, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { laneKeys } from '#infra/local/environment'
import { feeBid } from '#infra/local/fee-bid'
import { repositoryDir } from '#infra/local/folders'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { checkBooks } from '#infra/operations/books/reconcile'
import { withDatabase } from '#infra/operations/cli/connection'
import { listInFlight } from '#infra/operations/cli/in-flight'
import { placeOf } from '#infra/operations/place'
import { checkRecord } from '#infra/operations/record/verify-record'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import { okOf } from '#shared/client/client'
import { loseJetStream, watchful } from '../attacks/fixture'
import { query, rowsWritten } from '../support/database'
import { restoreBaseBackup, takeBaseBackup } from '../support/engines/base-backup'
import { cashOut, creditedTopUp } from '../support/flows'
import { ausdOf, readerOf } from '../support/ledger'
import { verifiedUser } from '../support/people'
import { answered, entryIn, entryNow } from '../support/requests'
import { operate, ownStack } from '../support/stack'
import { becomes } from '../support/wait'
import { type Before, before, type LostHour, lostHour, startServices, stopServices } from './lost-hour'

let stack: Stack
afterEach(() => stack?.[Symbol.asyncDispose]())

const once = { checksMax: 1, betweenMs: 0 }
const lanes = laneKeys.map((key) => privateKeyToAccount(key))
const countsOfLanes = () => Promise.all(lanes.map(({ address }) => readerOf(stack).getTransactionCount({ address })))
/** Returns all rows and the lanes, since no service runs that would move them. */
const stored = async () => ({
  ...(await rowsWritten(stack)),
  lanes: await query(stack, 'select * from chain_relayer.lane order by address'),
})

/** Returns the variables that an operator sets in place of a local stack's folder. */
const told = ({ info }: Stack) => ({
  DATABASE_ADMIN_URL: info.postgres.url,
  DEPLOY_BLOCK: '0',
  RPC_URL: info.chain.rpcUrl,
  AUSD_ADDRESS: info.chain.ausd,
  CREDIT_LINE_ADDRESS: info.chain.creditLine,
  TREASURY_ADDRESS: info.chain.treasury,
  NATS_URL: info.nats.url,
  NATS_PASSWORD_ADMIN: info.nats.admin.password,
  PROVIDER_URL: info.sandbox,
  PROVIDER_ID_SECRET_KEY: info.provider.ID.secretKey,
  PROVIDER_MY_SECRET_KEY: info.provider.MY.secretKey,
})

async function restore(...words: string[]) {
  const run = Bun.spawn([process.execPath, 'infra/operations/restore/main.ts', ...words], {
    cwd: repositoryDir,
    stdout: 'pipe',
    stderr: 'pipe',
    env: {
      ...process.env,
      LOCAL_DIR: stack.dir,
      ...(words.includes('--apply') ? told(stack) : {}),
    },
  })
  const said = (await new Response(run.stdout).text()) + (await new Response(run.stderr).text())
  return `${said}exit ${await run.exited}`
}

const toDecide = (said: string) => said.split('\n').filter((line) => line.startsWith('to decide:'))

/** Sends one wei with a lane's key, as a thief would. */
async function sendWithStolenKey(): Promise<string> {
  const { rpcUrl, chainId } = stack.info.chain
  const client = createWalletClient({
    account: lanes[1]!,
    chain: chainOf(chainId),
    transport: http(rpcUrl),
  }).extend(publicActions)
  const to = privateKeyToAccount(generatePrivateKey()).address
  const hash = await client.sendTransaction({ to, value: 1n, gas: 21_000n, ...(await feeBid(client)) })
  await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })
  const isFinal = async () => {
    const { blockNumber } = await client.getTransactionReceipt({ hash })
    return (await client.getBlock({ blockTag: 'finalized' })).number >= blockNumber
  }
  await waitUntil('it being final', isFinal)
  return hash
}

async function effectsOf(paymentId: string): Promise<string[]> {
  const { creditLine: address } = stack.info.chain
  const read = (eventName: 'CollateralAdded' | 'Repaid') =>
    readerOf(stack).getContractEvents({
      address: address as `0x${string}`,
      abi: creditLineAbi,
      eventName,
      fromBlock: 0n,
      args: { ref: refOf(paymentId) },
      strict: true,
    })
  const events = [...(await read('CollateralAdded')), ...(await read('Repaid'))]
  return [...new Set(events.map(({ transactionHash }) => transactionHash as string))]
}

async function transfersAtProvider(): Promise<Record<string, number>> {
  const { payouts } = await outsideOf(stack.info).book()
  const byId = Map.groupBy(payouts!, ({ reference_id }) => reference_id as string)
  return Object.fromEntries([...byId].map(([id, found]) => [id, found.length]))
}

const nativeOf = ({ account: { address } }: Person) => readerOf(stack).getBalance({ address })

/** Identity for which nothing is awaited. */
const atRest = { state: 'verified', awaited: null, flag: true, drip: true, failure: null }
const identityOf = async ({ wallet }: Person) => {
  const [row] = await query(
    stack,
    `select state, check_at as awaited, flag_settled_at is not null as flag, drip_settled_at is not null as drip,
      failure from gateway.identities where wallet = '${wallet}'`,
  )
  return row
}

/** Returns the state of chain and provider when Postgres was lost, from which they continue. */
async function outsideNow(was: Before, hour: LostHour) {
  return {
    lanes: await countsOfLanes(),
    transfers: await transfersAtProvider(),
    native: await Promise.all([was.budi, hour.dewi].map(nativeOf)),
  }
}

/** Returns the payments at the provider and their expected final states. */
const paymentsOf = (was: Before, hour: LostHour): [Person, { paymentId: string }, string][] => [
  [was.ana, was.open, 'credited'],
  [was.ana, was.card, 'credited'],
  [was.ana, was.settlement, 'repaid'],
  [was.eka, was.regretted, 'revoked'],
  [was.citra, hour.late, 'credited'],
  [was.citra, hour.card, 'credited'],
  [was.citra, hour.settlement, 'repaid'],
  [was.eka, hour.regretted, 'revoked'],
  [was.citra, hour.uncredited, 'credited'],
]

async function loseAnHour() {
  const settings = { 'chain-relayer': { BUMP_AFTER_MS: '2000' } }
  stack = await ownStack({
    proxied: true,
    env: { ...watchful, ...settings },
    terms: { holdSeconds: 12, minCycleSeconds: 0 },
  })
  const was = await before(stack)
  const backup = await takeBaseBackup(stack)
  const since = backup.takenAt.toISOString()
  const hour = await lostHour(stack, was)
  await stopServices(stack)
  const then = await outsideNow(was, hour)
  await restoreBaseBackup(stack, backup)
  backup[Symbol.dispose]()
  return { was, hour, then, since }
}

/** Expects that everything is as if nothing had been lost, to the last unit. */
async function expectAllBack(was: Before, hour: LostHour, native: bigint[]) {
  for (const [person, { paymentId }, state] of paymentsOf(was, hour)) {
    // The bus knows the ids of outcomes from the lost hour, so outcomes are repeated until one is new.
    const { txHash } = await waitUntil(
      `${paymentId} becoming ${state}`,
      () => entryNow(person, paymentId, state),
      75_000,
    )
    expect(await effectsOf(paymentId)).toEqual([txHash!])
  }
  for (const id of [was.settled, was.paying, was.taking, hour.paid]) await entryIn(was.eka, id, 'paid')
  await entryIn(was.eka, hour.returned, 'returned')
  await entryIn(was.eka, hour.sendId, 'sent')
  // Four cash-outs of 5 AUSD were paid and 1.5 was sent; unpaid takes were returned.
  await becomes(() => ausdOf(stack, was.eka.account.address), 38_500_000n)
  expect(await transfersAtProvider()).toEqual({
    [was.settled]: 1,
    [was.paying]: 1,
    [was.taking]: 1,
    [hour.paid]: 1,
    [hour.returned]: 1,
  })
  expect(await Promise.all([was.budi, hour.dewi].map(nativeOf))).toEqual(native)
  for (const person of [was.budi, hour.dewi]) expect((await person.me()).verified).toBe(true)
  // The gateway queries the provider about a user without a row.
  const identityNow = async (person: Person) => {
    await person.get('/me')
    return identityOf(person)
  }
  const identities = () => Promise.all([was.budi, hour.dewi].map(identityNow))
  await becomes(identities, [atRest, atRest], 150_000)
  expect((await was.ana.me()).drawn).toBe('0')
  expect((await was.citra.me()).drawn).toBe('0')
  await becomes(async () => {
    const open = await withDatabase(stack.adminUrl, listInFlight)
    return open.map(({ what, state }) => `${what} ${state}`)
  }, [])
  expect(await query(stack, 'select fault from chain_relayer.lane where fault is not null')).toEqual([])
  expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
  for (const { account } of [was.ana, was.citra])
    expect(await checkRecord(placeOf(stack.info), account.address)).toEqual([])
}

/** Longest wait in ms, because a restore takes minutes on a busy machine. */
const longMs = 600_000

describe('Postgres is restored from a backup, while chain and provider went on', () => {
  test(
    'with the bus intact: the relayer refuses, and one command restores every item',
    async () => {
      const { was, hour, then, since } = await loseAnHour()

      // Services start on the old rows, unaware of the restore.
      await startServices(stack)
      const log = () => readFileSync(join(stack.dir, 'logs/chain-relayer.log'), 'utf8')
      await waitUntil('the relayer refusing', () => /"fault":"chain_ahead".*"alarm":true/.test(log()))
      await entryIn(was.eka, was.paying, 'paid')
      for (const one of [was.open, was.card, was.settlement]) await entryIn(was.ana, one.paymentId, 'paid')
      const waiting = `select 1 from chain_relayer.operation where cause = '${was.card.paymentId}' and state = 'waiting'`
      await waitUntil('its credit being ordered again', async () => (await query(stack, waiting)).length > 0)
      expect(await outsideNow(was, hour)).toEqual(then)

      // The steps are those of infra/operations/runbook/restore.md.
      const running = await restore('--since', since, '--apply')
      expect(running).toMatch(/a lane is blocked: stop it first; nothing was changed\nexit 1$/)
      await stopServices(stack)
      const missing = await checkBooks(placeOf(stack.info), stack.adminUrl, once)
      for (const { paymentId } of [hour.late, hour.card, hour.settlement, hour.uncredited])
        expect(missing.join('\n')).toMatch(
          // The services may already have booked it as unexplained.
          new RegExp(`(provider_unknown|suspense) .* the provider has .* under ${paymentId}`),
        )
      const stolen = await sendWithStolenKey()
      const stood = await stored()
      const dry = await restore('--since', since)
      expect(dry).toEndWith('nothing was changed\nexit 1')
      expect(toDecide(dry)).toEqual([expect.stringContaining(`--accept ${stolen}`)])
      const refused = await restore('--since', since, '--apply')
      expect(refused).toEndWith('unexplained transactions; nothing was changed\nexit 1')
      expect(await stored()).toEqual(stood)
      const applied = await restore('--since', since, '--accept', stolen, '--apply')
      expect(applied).toEndWith('restored\nexit 0')
      const again = await restore('--since', since)
      expect(again).toContain('to restore: 0 payments, 0 cash-outs')
      expect(again).toEndWith('exit 0')

      await startServices(stack)
      await entryIn(was.eka, hour.middle, 'returned')
      await expectAllBack(was, hour, then.native)

      // This checkout has no row.
      await outsideOf(stack.info).pay(hour.unpaid.paymentId, 'QRIS')
      const nobodys = `select 1 from payments.anomalies where kind = 'money_unmatched'`
      await waitUntil('an alarm', async () => (await query(stack, nobodys)).length > 0)
      expect(await restore('--since', since, '--apply')).toEndWith('restored\nexit 0')
      await entryIn(was.citra, hour.unpaid.paymentId, 'credited')
      expect(await effectsOf(hour.unpaid.paymentId)).toHaveLength(1)
      expect(await checkBooks(placeOf(stack.info), stack.adminUrl)).toEqual([])
    },
    longMs,
  )

  test(
    'with the bus lost as well: open decisions are listed with their amounts',
    async () => {
      const { was, hour, then, since } = await loseAnHour()
      await loseJetStream(stack)

      const dry = await restore('--since', since)
      expect(dry).toEndWith('nothing was changed\nexit 1')
      const asked = toDecide(dry)
      const hashOf = (line: string | undefined) => /--(?:accept|give-back) (0x[0-9a-f]{64})/.exec(line ?? '')?.[1]
      const money = asked.find((line) => line.includes(hour.uncredited.paymentId))
      expect(money).toContain('50000 IDR')
      const take = asked.find((line) => line.includes('--give-back'))
      expect(take).toContain(`5000000 micro-AUSD of ${was.eka.wallet}`)
      const verified = hashOf(asked.find((line) => line.includes('--accept') && hashOf(line) !== hashOf(take)))
      expect(asked).toHaveLength(4) // The take is also checked as a transaction.
      expect(await restore('--since', since, '--apply')).toEndWith('nothing was changed\nexit 1')

      // The facts are from both providers' dashboards and the list of payouts.
      const { sessions } = await outsideOf(stack.info).book()
      const checkout = sessions!.find((one) => one.reference_id === hour.uncredited.paymentId)!
      const decided = ['--checkout', checkout.payment_session_id, '--give-back', hashOf(take)!, '--accept', verified!]
      const applied = await restore('--since', since, ...decided, '--apply')
      expect(applied).toEndWith('restored\nexit 0')
      await startServices(stack)
      await expectAllBack(was, hour, then.native)
      await creditedTopUp(stack, was.ana)
    },
    longMs,
  )

  test(
    'from before an erasure: the user stays erased, and the open cash-out of the backup ends with its payee sealed',
    async () => {
      const payouts = { ...watchful.payouts, REVERSAL_WATCH_MS: '1000' }
      stack = await ownStack({ proxied: true, env: { ...watchful, payouts } })
      const outside = outsideOf(stack.info)
      const person = await verifiedUser(stack, { ausdMicro: 20_000_000n })
      okOf(await person.api.setCountry('MY'))
      // Payouts must have read banks and balance before the provider fails.
      await answered(() => person.get('/config'))
      await outside.faults({ api: { errorRate: 1 } })
      const { id: payoutId } = await cashOut(stack, person)
      const isPaying = `select 1 from payouts.payouts where id = '${payoutId}' and state = 'paying'`
      await waitUntil('an attempt', async () => (await query(stack, isPaying)).length > 0)
      const backup = await takeBaseBackup(stack)
      const since = backup.takenAt.toISOString()

      await outside.calm()
      await entryIn(person, payoutId, 'paid')
      const erase = ['persons', 'erase', person.wallet, '--reason', 'request', '--apply']
      const erased = async () => (await operate(stack, ...erase)).code === 0
      await waitUntil('the erasure', erased)
      const isKnown = async () => {
        const [row] = await query(
          stack,
          `select u.country, i.state, i.provider_ref, p.bank_details, p.channel_code
            from gateway.users u join gateway.identities i using (wallet)
            join payouts.payouts p using (wallet) where wallet = '${person.wallet}'`,
        )
        return Object.values(row!)
      }
      // The bank details of a paid cash-out outlive the erasure, sealed.
      const nothing = [null, 'reset', null, expect.stringMatching(/./), expect.stringMatching(/^ID_/)]
      expect(await isKnown()).toEqual(nothing)
      const off = async () => !(await person.me()).verified
      await waitUntil('the flag being off', off)
      const list = (await operate(stack, 'persons', 'erased')).said
      expect(list).toStartWith(`${person.wallet}@20`)

      await stopServices(stack)
      await restoreBaseBackup(stack, backup)
      backup[Symbol.dispose]()
      expect((await isKnown()).slice(0, 2)).toEqual(['MY', 'verified'])
      expect(await restore('--since', since)).toContain('to erase again: 1 wallets')
      const applied = await restore('--since', since, '--erased', list, '--apply')
      expect(applied).toEndWith('restored\nexit 0')
      expect(await isKnown()).toEqual(nothing)
      await startServices(stack)
      await waitUntil('the cash-out', () => entryNow(person, payoutId, 'paid'))
      expect(await transfersAtProvider()).toEqual({ [payoutId]: 1 })
      await waitUntil('the flag staying off', off)
      expect(await isKnown()).toEqual(nothing)
    },
    longMs,
  )
})
