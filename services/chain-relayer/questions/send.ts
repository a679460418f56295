import { type Hex, zeroAddress } from 'viem'
import { toUnixSeconds } from '#platform/clock'
import type { Db, Tx } from '#platform/db/open'
import { within } from '#platform/deadline'
import { failpoint } from '#platform/failpoint'
import { requestId } from '#platform/request-id'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { GivenAuthorization } from '#shared/chain/given-authorization'
import { type Answer, ok, type RefusalCode, refuse } from '#shared/refusals'
import { isSignedByOwner, same } from '../chain/authorization'
import type { ContractSignature } from '../chain/contract-signature'
import { multicall3 } from '../chain/multicall'
import type { Context } from '../context'
import { lapsesSoon, type Order, orderOf, sendIdOf, type Task } from '../operations/operation'
import { findOperations, insertOperations } from '../operations/operation.store'
import type { Operation } from '../operations/operation.table'
import { revertedGasToday } from '../operations/reverted-gas.store'
import { countRefusedByCode, findLeaving, leavingMicro, lockWallets, takenAmong } from '../operations/wallet.store'
import { atMost } from '../transactions/transaction'
import { multiRead } from './multi-read'

export type SignerFacts = {
  readonly verified: boolean
  readonly frozen: boolean
  readonly signatureValid: boolean
  /** True if the wallet's code too often refused transfers that it had accepted. */
  readonly isDistrusted: boolean
  readonly nonceUsed: boolean
  /** True if the token's issuer has paused all transfers, or those by signature. */
  readonly paused: boolean
  /** Balance (10⁻⁶ AUSD) less the amounts of open operations. */
  readonly freeMicro: bigint
}

type Holding = {
  readonly balanceMicro: bigint
  /** Open operations whose AUSD has already left that balance. */
  readonly goneIds: readonly string[]
}

type SendRequest = {
  wallet: string
  /** Addresses that a send must not pay, because the AUSD would be lost or mistaken for a payment. */
  token: string
  creditLine: string
  treasury: string
  nowSeconds: bigint
  signed: GivenAuthorization
}

/** Smallest send in 10⁻⁶ AUSD; the gas of a smaller one would be worth more. */
const sendMinMicro = 10_000n

const rules: readonly (readonly [RefusalCode, (words: SendRequest) => boolean])[] = [
  ['wallet_not_from', ({ wallet, signed }) => !same(wallet, signed.from)],
  ['to_zero', ({ signed }) => same(signed.to, zeroAddress)],
  ['to_token', ({ signed, token }) => same(signed.to, token)],
  ['to_credit_line', ({ signed, creditLine }) => same(signed.to, creditLine)],
  // guard: no send goes to an address where it is lost or mistaken for an incoming payment
  ['to_treasury', ({ signed, treasury }) => same(signed.to, treasury)],
  ['to_self', ({ signed }) => same(signed.to, signed.from)],
  ['value_zero', ({ signed }) => BigInt(signed.value) === 0n],
  ['value_below_minimum', ({ signed }) => BigInt(signed.value) < sendMinMicro],
  ['valid_before_past', ({ signed, nowSeconds }) => BigInt(signed.validBefore) <= nowSeconds],
  ['valid_before_soon', ({ signed, nowSeconds }) => lapsesSoon(signed, nowSeconds)],
  ['valid_after_not_reached', ({ signed, nowSeconds }) => BigInt(signed.validAfter) >= nowSeconds],
]

const refusalOfWords = (words: SendRequest): RefusalCode | undefined => rules.find(([, broken]) => broken(words))?.[0]

/**
 * Returns the refusal of a signer. The signature is checked first, so that a forger learns nothing about the wallet.
 */
export function refusalOfSigner(facts: SignerFacts, signed: GivenAuthorization): RefusalCode | undefined {
  // guard: a send is signed by its wallet
  if (!facts.signatureValid) return 'signature_invalid'
  if (facts.isDistrusted) return 'gas_budget_spent'
  // guard: a frozen wallet neither sends nor cashes out
  if (facts.frozen) return 'wallet_frozen'
  if (facts.nonceUsed) return 'nonce_used'
  if (facts.freeMicro < BigInt(signed.value)) return 'balance_too_low'
  // A transfer that is accepted now would wait for the end of the pause, and fail after five minutes.
  if (facts.paused) return 'ausd_paused'
  return undefined
}

export const refusalOfSend = (words: SendRequest, facts: SignerFacts): RefusalCode | undefined =>
  // guard: an unverified wallet sends nothing
  refusalOfWords(words) ?? (facts.verified ? refusalOfSigner(facts, words.signed) : 'not_verified')

export async function signerFacts(context: Context, signed: GivenAuthorization): Promise<SignerFacts & Holding> {
  const { node, contracts } = context
  const { leavingOf } = sharedBy(context)
  const from = signed.from.toLowerCase() as Hex
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const readTurn = context.readTurn()
  let isDistrusted = false
  const accepts = async (asked: ContractSignature) => {
    if (!(await context.isAccepted(asked))) return false
    isDistrusted = await refusesTooOften(context, asked.signer)
    return true
  }
  const [{ verified, frozen }, signatureValid, nonceUsed, balanceMicro, paused, leaving] = await Promise.all([
    readTurn.then(() => context.account(from)),
    isSignedByOwner(contracts.domain, signed, accepts),
    readTurn.then(() =>
      node.reader.readContract({
        ...token,
        functionName: 'authorizationState',
        args: [from, signed.nonce as Hex],
      }),
    ),
    readTurn.then(() => node.reader.readContract({ ...token, functionName: 'balanceOf', args: [from] })),
    readTurn.then(() => isTokenPaused(context)),
    readTurn.then(() => leavingOf(from)),
  ])
  const facts = { verified, frozen, signatureValid, isDistrusted, nonceUsed, paused }
  const freeMicro = balanceMicro - leaving
  const isEnough = freeMicro >= BigInt(signed.value) || leaving === 0n
  if (isEnough) return { ...facts, balanceMicro, goneIds: [], freeMicro }
  return { ...facts, ...(await holdingOf(context, from)) }
}

async function isTokenPaused({ node, contracts }: Pick<Context, 'node' | 'contracts'>): Promise<boolean> {
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const pauses = await Promise.all(
    (['isTransferPaused', 'isSignatureVerificationPaused'] as const).map((functionName) =>
      // If the issuer removes a view, transfers are still accepted, and the relayer's simulation decides.
      node.reader.readContract({ ...token, functionName }).catch(() => false),
    ),
  )
  return pauses.includes(true)
}

const refusedByCodeMax = 3

/**
 * Returns true if the wallet's code has refused too often. The code can tell who asks, and a transfer that it accepts
 * and then refuses costs us chain calls.
 */
const refusesTooOften = async ({ database }: Pick<Context, 'database'>, signer: Hex) =>
  (await database.read((db) => countRefusedByCode(db, signer))) >= refusedByCodeMax

const inFlightMax = 50

/**
 * Reads the balance and open operations of a wallet. A mined transfer has left the balance but stays open until final,
 * and counting it twice would hide AUSD. So both are read at one block if the wallet would otherwise be refused.
 */
async function holdingOf({ database, node, contracts }: Context, from: Hex): Promise<Holding & { freeMicro: bigint }> {
  const leaving = await database.read((db) => findLeaving(db, from, inFlightMax))
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const [balanceMicro, ...used] = (await node.reader.multicall({
    allowFailure: false,
    batchSize: 0, // All reads share one call, so that they are of the same block.
    multicallAddress: multicall3,
    contracts: [
      { ...token, functionName: 'balanceOf', args: [from] },
      ...leaving.map(({ nonce }) => ({
        ...token,
        functionName: 'authorizationState',
        args: [from, nonce],
      })),
    ] as never,
  })) as readonly [bigint, ...boolean[]]
  const goneIds = leaving.filter((_, at) => used[at]).map(({ id }) => id)
  const still = await database.read((db) => leavingMicro(db, [from], goneIds))
  return { balanceMicro, goneIds, freeMicro: balanceMicro - (still.get(from) ?? 0n) }
}

/** Deadline of the first read, in ms, which detects an unresponsive database before anything is stored. */
const readDeadlineMs = 1_500

type SendAnswer = { sendId: string; ausd: string; to: string }

/** Relays a send once per (from, nonce); a repeat gets the first answer. */
export async function createSend(
  context: Context,
  wallet: string,
  signed: GivenAuthorization,
  { termsMissing = false }: { readonly termsMissing?: boolean } = {},
): Promise<Answer<SendAnswer>> {
  const { contracts } = context
  const { gasBudgetWei } = context.settings
  const nowSeconds = BigInt(toUnixSeconds(context.clock()))
  const { ausd: token, creditLine } = contracts
  const places = { token, creditLine, treasury: context.treasury.address }
  const words = { wallet, ...places, nowSeconds, signed }
  const sendId = sendIdOf(signed)
  const sent = orderOf({ kind: 'send', payload: { sendId, authorization: signed } })
  const order = { ...sent, requestId: requestId() ?? null }
  // This check comes first, so that a caller cannot learn about another wallet's sends.
  if (refusalOfWords(words) === 'wallet_not_from') return refuse('wallet_not_from')
  const { find, store } = sharedBy(context)
  const known = await within(find(order.id), readDeadlineMs, 'the database')
  if (known) return answerAgain(order, known)
  if (termsMissing) return refuse('terms_not_accepted')
  const broken = refusalOfWords(words)
  if (broken) return refuse(broken)
  const facts = await signerFacts(context, signed)
  const refused = refusalOfSend(words, facts)
  if (refused) {
    // A concurrent duplicate may have been stored first and used the nonce.
    const meanwhile = await find(order.id)
    return meanwhile ? answerAgain(order, meanwhile) : refuse(refused)
  }
  const { balanceMicro, goneIds } = facts
  const answer = await store({ order, balanceMicro, goneIds, gasBudgetWei })
  failpoint('chain-relayer:operation-stored')
  context.wake()
  return answer
}

type Wanted = Holding & {
  readonly order: Order
  readonly gasBudgetWei: bigint
}

const storedAtOnce = 64

/** Opens queries that concurrent sends share. */
function openShared(database: Context['database']) {
  const read = <I, O>(work: (db: Db, items: readonly I[]) => Promise<(item: I) => O>) =>
    multiRead(async (items: readonly I[]) => {
      const answerOf = await database.read((db) => work(db, items))
      return items.map(answerOf)
    }, storedAtOnce)
  return {
    find: read(async (db, ids: readonly string[]) => {
      const known = new Map((await findOperations(db, ids)).map((one) => [one.id, one]))
      return (id) => known.get(id)
    }),
    leavingOf: read(async (db, wallets: readonly Hex[]) => {
      const leaving = await leavingMicro(db, wallets)
      return (wallet) => leaving.get(wallet) ?? 0n
    }),
    store: multiRead((wanted: readonly Wanted[]) => database.transaction((tx) => storeAll(tx, wanted)), storedAtOnce),
  }
}

const shared = new WeakMap<Context['database'], ReturnType<typeof openShared>>()

function sharedBy({ database }: Pick<Context, 'database'>) {
  const known = shared.get(database) ?? openShared(database)
  shared.set(database, known)
  return known
}

/** Stores sends in turn. Each may use only the AUSD that earlier ones leave. */
async function storeAll(tx: Tx, wanted: readonly Wanted[]): Promise<Answer<SendAnswer>[]> {
  const orders = wanted.map(({ order }) => order)
  const wallets = [...new Set(orders.map(({ wallet }) => wallet))]
  lockWallets(tx, wallets)
  const [stored, taken, leaving, reverted] = await Promise.all([
    findOperations(
      tx,
      orders.map(({ id }) => id),
    ),
    takenAmong(tx, orders),
    leavingMicro(
      tx,
      wallets,
      wanted.flatMap(({ goneIds }) => goneIds),
    ),
    revertedGasToday(tx, wallets),
  ])
  // The lowest of the balances read reflects all outgoing transfers.
  const heldMicro = new Map<Hex, bigint>()
  for (const { order, balanceMicro } of wanted)
    heldMicro.set(order.wallet, atMost(heldMicro.get(order.wallet) ?? balanceMicro, balanceMicro))
  const known = new Map<string, KnownSend>(stored.map((one) => [one.id, one]))
  const added: Order[] = []
  const answers = wanted.map(({ order, gasBudgetWei }): Answer<SendAnswer> => {
    const { id, wallet, leavesMicro } = order
    const before = known.get(id)
    if (before) return answerAgain(order, before)
    if (taken.has(id)) return refuse('authorization_conflict')
    const left = (leaving.get(wallet) ?? 0n) + leavesMicro
    // guard: sends of a wallet check its AUSD one at a time
    if (left > (heldMicro.get(wallet) ?? 0n)) return refuse('balance_too_low')
    if (reverted.pausedSince) return refuse('relaying_paused', reverted.pausedSince)
    if (reverted.weiOf(wallet) >= gasBudgetWei) return refuse('gas_budget_spent')
    leaving.set(wallet, left)
    known.set(id, order)
    added.push(order)
    return answerAgain(order, order)
  })
  // The wallet locks keep other instances from storing the same send.
  insertOperations(tx, added)
  return answers
}

type KnownSend = Pick<Operation, 'contentHash'> & Task

function answerAgain(order: Order, known: KnownSend): Answer<SendAnswer> {
  // guard: a nonce of a wallet is one send
  if (known.contentHash !== order.contentHash || known.kind !== 'send') return refuse('authorization_conflict')
  const { sendId, authorization } = known.payload
  return ok({ sendId, ausd: authorization.value, to: authorization.to })
}
