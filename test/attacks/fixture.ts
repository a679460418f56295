import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, createWalletClient, http, publicActions } from 'viem'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import { feeBid } from '#infra/local/fee-bid'
import { natsAnswers } from '#infra/local/nats'
import type { Stack, StackOptions } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { settle } from '../support/flows'
import { ausdOf, chainSeconds, readerOf } from '../support/ledger'
import { answered } from '../support/requests'
import { quickChecks } from '../support/settings'
import { becomes } from '../support/wait'

/** Intervals of the identity checks for dozens of verified users. */
const identity = { IDENTITY_RECHECK_MS: '15000', IDENTITY_RECHECK_OPEN_MS: '1000' }
/**
 * Settings in which the last check of a hold leaves 8 s to extend or revoke it, enough for four suites on two cores.
 */
export const watchful: NonNullable<StackOptions['env']> = {
  ...quickChecks,
  gateway: { ...identity, RECHECK_AFTER_MS: '1000', RECHECK_EVERY_MS: '1000' },
  payments: { ...quickChecks.payments, LIST_EVERY_MS: '3000', HOLD_MARGIN_MS: '8000' },
  payouts: { ...quickChecks.payouts, LIST_EVERY_MS: '3000' },
}

/** Holds in seconds, long enough to refund a held payment before its last check on a busy machine. */
export const holdSeconds = 20

/** Key in the path of the RPC endpoint that `unnoticed` uses. */
export const rpcKey = 'marked-0123456789abcdef'

/** Services whose NATS passwords the attacker of `gas` knows. */
export const broken = ['payments', 'payouts'] as const
export const stolen = (service: (typeof broken)[number]) => `the password of ${service}`

export const happens = (waiting: Promise<unknown>): Promise<boolean> =>
  waiting.then(
    () => true,
    () => false,
  )

/** Limit of concurrent public requests on the stack of `service` and `flood`. */
export const publicConcurrencyMax = 20

export const tries = (call: Promise<unknown>): Promise<'done' | 'reverted'> =>
  call.then(
    () => 'done' as const,
    (error: Error) => {
      if (error.message.endsWith(' reverted')) return 'reverted'
      throw error
    },
  )

/** Withdraws collateral with a fixed gas limit, as wallets do. Throws if the call reverts. */
export async function withdrawCollateral(stack: Stack, person: Person, micro: bigint) {
  const { rpcUrl, chainId, creditLine } = stack.info.chain
  const { account } = person
  const chain = chainOf(chainId)
  const client = createWalletClient({ account, chain, transport: http(rpcUrl) }).extend(publicActions)
  const hash = await client.writeContract({
    address: creditLine as Address,
    abi: creditLineAbi,
    functionName: 'withdrawCollateral',
    args: [micro, account.address],
    gas: 400_000n,
    ...(await feeBid(client)),
  })
  const receipt = await waitUntil('the withdrawal to be mined', () =>
    client.getTransactionReceipt({ hash }).catch(() => undefined),
  )
  if (receipt.status !== 'success') throw new Error('withdrawCollateral reverted')
}

/** Opens and pays a settlement, and returns the payment's id. */
export async function settleBy(stack: Stack, person: Person, channel: string): Promise<string> {
  const { id } = await settle(stack, person, channel)
  await person.until('the repayment', (me) => me.drawn === '0')
  return id
}

/** Waits until the chain's clock is past `seconds`. */
export const passing = (stack: Stack, seconds: number, deadlineMs = 60_000) =>
  waitUntil(`chain time ${seconds}`, async () => (await chainSeconds(stack)) > seconds, deadlineMs, 150)

/** Returns the AUSD (10⁻⁶) in the lending pool. */
export const liquidityOf = (stack: Stack): Promise<bigint> =>
  readerOf(stack).readContract({
    address: stack.info.chain.creditLine as Address,
    abi: creditLineAbi,
    functionName: 'liquidity',
  })

/** Returns the position of a wallet, in which held collateral counts unless it is revoked. */
async function positionOf(stack: Stack, wallet: Address) {
  const line = { address: stack.info.chain.creditLine as Address, abi: creditLineAbi } as const
  const reader = readerOf(stack)
  const account = await reader.readContract({ ...line, functionName: 'accountOf', args: [wallet] })
  const shares = account.shares + account.pendingShares
  const collateralMicro = await reader.readContract({
    ...line,
    functionName: 'ausdOfSharesFloor',
    args: [shares],
  })
  return { collateralMicro, debtMicro: account.drawn }
}

type Back = { of_payment: string; amount: number; status: string }
/** Returns true if a refund succeeded or a chargeback stands. */
const isGone = ({ status }: Back) => status === 'SUCCEEDED' || status === 'SUCCESS'

/** Returns the payments less refunds in AUSD at the locked rates, from the provider's book. It knows rupiah only. */
async function paidAndKept(stack: Stack, person: Person): Promise<bigint> {
  const { items } = (await answered(() => person.get('/me/activity?limit=100'))).body
  const book = await outsideOf(stack.info).book()
  const backs: Back[] = [...book.refunds!, ...(book.chargebacks ?? [])]
  let keptMicro = 0n
  for (const { session_reference_id, payment_id, status, captures } of book.payments!) {
    const item = items.find((entry: { id: string }) => entry.id === session_reference_id)
    if (!item || status !== 'SUCCEEDED') continue
    const gone = backs.filter((one) => one.of_payment === payment_id && isGone(one))
    const captured = (captures as { capture_amount: number }[]).map((one) => one.capture_amount)
    const sum = (amounts: number[]) => BigInt(amounts.reduce((total, next) => total + next, 0))
    const keptFiat = sum(captured) - sum(gone.map(({ amount }) => amount))
    keptMicro += (BigInt(item.ausd) * keptFiat) / BigInt(item.fiat)
  }
  return keptMicro
}

type Sums = {
  treasuryMicro: bigint
  lineMicro: bigint
  walletsMicro: bigint
  collateralMicro: bigint
  debtMicro: bigint
  paidMicro: bigint
}

async function sumsOf(stack: Stack, people: readonly Person[]): Promise<Sums> {
  const { treasury, creditLine } = stack.info.chain
  const sum = async (each: (person: Person) => Promise<bigint>) =>
    (await Promise.all(people.map(each))).reduce((total, next) => total + next, 0n)
  const position = (person: Person) => positionOf(stack, person.account.address)
  return {
    treasuryMicro: await ausdOf(stack, treasury as Address),
    lineMicro: await ausdOf(stack, creditLine as Address),
    walletsMicro: await sum((person) => ausdOf(stack, person.account.address)),
    collateralMicro: await sum(async (person) => (await position(person)).collateralMicro),
    debtMicro: await sum(async (person) => (await position(person)).debtMicro),
    paidMicro: await sum((person) => paidAndKept(stack, person)),
  }
}

/** Result of books in which all AUSD is accounted for. */
export const explained = { walkedOffMicro: 0n, treasuryLostMicro: 0n, unexplainedMicro: 0n }

/**
 * Opens the books of these users, who must be the only ones to act until `close`. That returns, in 10⁻⁶ AUSD, the
 * users' gain beyond their net payments, the treasury's loss beyond them, and the change of the credit line that
 * collateral and debt do not explain.
 */
export async function openBooks(stack: Stack, ...people: Person[]) {
  const before = await sumsOf(stack, people)
  return {
    close: async (): Promise<typeof explained> => {
      const now = await sumsOf(stack, people)
      const grown = (name: keyof Sums) => now[name] - before[name]
      const equityMicro = grown('collateralMicro') - grown('debtMicro')
      return {
        walkedOffMicro: grown('walletsMicro') + equityMicro - grown('paidMicro'),
        treasuryLostMicro: -grown('treasuryMicro') - grown('paidMicro'),
        unexplainedMicro: grown('lineMicro') - equityMicro,
      }
    },
  }
}

/**
 * Waits until `read` returns this and the books explain every unit. The books are read last, because each reading asks for
 * all that the provider knows.
 */
export async function endsEven(
  books: { readonly close: () => Promise<typeof explained> },
  read: () => Promise<unknown>,
  expected: unknown,
): Promise<void> {
  await becomes(read, expected)
  await becomes(() => books.close(), explained)
  await becomes(read, expected)
}

/** Makes JetStream lose its store; `meanwhile` runs while the server is down. */
export async function loseJetStream(stack: Stack, meanwhile: () => Promise<unknown> = async () => {}) {
  const server = stack.process('nats-server')
  await server.stop('SIGKILL')
  rmSync(join(stack.dir, 'nats'), { recursive: true, force: true })
  await meanwhile()
  server.start()
  await waitUntil('nats-server to be ready', () => natsAnswers(stack.info.nats.monitor))
  await stack.provision()
}

export const recorded = (stack: Stack, event: string, since: number, count = 1) =>
  waitUntil(`${event} to be recorded`, async () => {
    const { webhooks } = await outsideOf(stack.info).book()
    const news = webhooks!.filter((one) => one.event === event && Date.parse(one.created) >= since)
    const taken = news.filter((one) => /"recorded"/.test(one.attempts.at(-1)?.body ?? ''))
    return taken.length >= count
  })

/** Returns the payment code of a checkout, which outlives the checkout page. */
export async function codeOf(stack: Stack, checkout: string, channel: string): Promise<string> {
  const choice = { channel_code: channel }
  const request = await outsideOf(stack.info).control(`sessions/${checkout}/choose`, choice)
  return (request as { payment_request_id: string }).payment_request_id
}

/** Pays a payment code, which is possible even after the checkout has ended. */
export async function payCode(stack: Stack, request: string): Promise<void> {
  const { secretKey } = stack.info.provider.ID
  const answer = await fetch(`${stack.info.sandbox}/v3/payment_requests/${request}/simulate`, {
    method: 'POST',
    headers: { Authorization: `Basic ${btoa(`${secretKey}:`)}` },
  })
  if (!answer.ok) throw new Error(`paying the code failed: ${await answer.text()}`)
}
