import type { Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { GivenAuthorization } from '#shared/chain/erc3009'
import { toUnixSeconds } from '#shared/clock'
import type { Db, Tx } from '#shared/db/open'
import { within } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { type Answer, ok, type RefusalCode, refuse } from '#shared/refusals'
import { requestId } from '#shared/request-id'
import { isSignedByOwner } from '../chain/authorization'
import { multicall3 } from '../chain/multicall'
import type { Context } from '../context'
import { burntToday } from '../operations/burnt.store'
import { lapsesSoon, type Order, orderOf, sendIdOf, type Task } from '../operations/operation'
import { findOperations, insertOperations, type Operation } from '../operations/operation.store'
import { findLeaving, leavingMicro, lockWallets, takenAmong } from '../operations/wallet.store'
import { atMost } from '../transactions/transaction'
import { together } from './together'

/** What a decision about an authorization needs to know of the chain. */
export type SignerFacts = {
  readonly verified: boolean
  readonly frozen: boolean
  readonly signatureValid: boolean
  readonly nonceUsed: boolean
  /** AUSD the wallet holds, less what operations in flight will still move; 10⁻⁶. */
  readonly freeMicro: bigint
}

/** What a wallet holds, as one block shows it. */
type Holding = {
  readonly balanceMicro: bigint
  /** Operations in flight, by their ids, whose AUSD have left that balance already. */
  readonly goneIds: readonly string[]
}

const zero = `0x${'0'.repeat(40)}`
const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()

type Words = {
  wallet: string
  /** Where a transfer helps nobody: it would be lost, or mistaken for money that came in. */
  token: string
  creditLine: string
  treasury: string
  nowSeconds: bigint
  signed: GivenAuthorization
}

/** What can be said of a send without asking the chain, in the order in which it is checked. */
const rules: readonly (readonly [RefusalCode, (words: Words) => boolean])[] = [
  ['wallet_not_from', ({ wallet, signed }) => !same(wallet, signed.from)],
  ['to_zero', ({ signed }) => same(signed.to, zero)],
  ['to_token', ({ signed, token }) => same(signed.to, token)],
  ['to_credit_line', ({ signed, creditLine }) => same(signed.to, creditLine)],
  ['to_treasury', ({ signed, treasury }) => same(signed.to, treasury)],
  ['value_zero', ({ signed }) => BigInt(signed.value) === 0n],
  ['valid_before_past', ({ signed, nowSeconds }) => BigInt(signed.validBefore) <= nowSeconds],
  ['valid_before_soon', ({ signed, nowSeconds }) => lapsesSoon(signed, nowSeconds)],
  ['valid_after_not_reached', ({ signed, nowSeconds }) => BigInt(signed.validAfter) >= nowSeconds],
]

export const refusalOfWords = (words: Words): RefusalCode | undefined =>
  rules.find(([, broken]) => broken(words))?.[0]

/**
 * What speaks against an authorization, in the order in which it is checked. A forged one is told
 * nothing of the wallet; a frozen wallet is told so before its balance is checked.
 */
export function refusalOfSigner(
  facts: SignerFacts,
  signed: GivenAuthorization,
): RefusalCode | undefined {
  if (!facts.signatureValid) return 'signature_invalid'
  if (facts.frozen) return 'wallet_frozen'
  if (facts.nonceUsed) return 'nonce_used'
  if (facts.freeMicro < BigInt(signed.value)) return 'balance_too_low'
  return undefined
}

/** All that speaks against a send: only the first is told. */
export const refusalOfSend = (words: Words, facts: SignerFacts): RefusalCode | undefined =>
  refusalOfWords(words) ?? (facts.verified ? refusalOfSigner(facts, words.signed) : 'not_verified')

/** What the chain and our own rows say of this authorization, and of its signer, now. */
export async function signerFacts(
  context: Context,
  signed: GivenAuthorization,
): Promise<SignerFacts & Holding> {
  const { node, contracts } = context
  const { leavingOf } = sharedBy(context)
  const from = signed.from.toLowerCase() as Hex
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const gathered = context.gather()
  const [{ verified, frozen }, signatureValid, nonceUsed, balanceMicro, leaving] =
    await Promise.all([
      gathered.then(() => context.account(from)),
      isSignedByOwner(context, signed),
      gathered.then(() =>
        node.reader.readContract({
          ...token,
          functionName: 'authorizationState',
          args: [from, signed.nonce as Hex],
        }),
      ),
      gathered.then(() =>
        node.reader.readContract({ ...token, functionName: 'balanceOf', args: [from] }),
      ),
      gathered.then(() => leavingOf(from)),
    ])
  const facts = { verified, frozen, signatureValid, nonceUsed }
  const freeMicro = balanceMicro - leaving
  const isEnough = freeMicro >= BigInt(signed.value) || leaving === 0n
  if (isEnough) return { ...facts, balanceMicro, goneIds: [], freeMicro }
  return { ...facts, ...(await holdingOf(context, from)) }
}

/** A wallet with more in flight waits until some of it is final. */
const inFlightMax = 50

/**
 * What was mined has left the balance, and is in flight until it is final: counted twice, it would
 * refuse AUSD that the wallet has. So balance and authorizations are read at one block. Only for a
 * wallet that would be refused.
 */
async function holdingOf(
  { database, node, contracts }: Context,
  from: Hex,
): Promise<Holding & { freeMicro: bigint }> {
  const leaving = await database.read((db) => findLeaving(db, from, inFlightMax))
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const [balanceMicro, ...used] = (await node.reader.multicall({
    allowFailure: false,
    batchSize: 0, // One call, so that all of it is of one block.
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

/** The first read finds a database that hangs, before anything is stored. */
const readDeadlineMs = 1_500

type Sent = { sendId: string; ausd: string; to: string }

/**
 * Relays a signed transfer once: (from, nonce) is the key, a repeat gets the first answer again.
 */
export async function createSend(
  context: Context,
  wallet: string,
  signed: GivenAuthorization,
): Promise<Answer<Sent>> {
  const { contracts } = context
  const { gasBudgetWei } = context.settings
  const nowSeconds = BigInt(toUnixSeconds(context.clock()))
  const { ausd: token, creditLine } = contracts
  const places = { token, creditLine, treasury: context.treasury.address }
  const words = { wallet, ...places, nowSeconds, signed }
  const sendId = sendIdOf(signed)
  const sent = orderOf({ kind: 'send', payload: { sendId, authorization: signed } })
  const order = { ...sent, requestId: requestId() ?? null }
  // Whose authorization it is comes first: nobody learns of the sends of another wallet.
  if (refusalOfWords(words) === 'wallet_not_from') return refuse('wallet_not_from')
  const { find, store } = sharedBy(context)
  const known = await within(find(order.id), readDeadlineMs, 'the database')
  if (known) return answerAgain(order, known)
  const broken = refusalOfWords(words)
  if (broken) return refuse(broken)
  const facts = await signerFacts(context, signed)
  const refused = refusalOfSend(words, facts)
  if (refused) {
    // The same call, come twice, may have been first: that its nonce is used is no reason to
    // refuse.
    const meanwhile = await find(order.id)
    return meanwhile ? answerAgain(order, meanwhile) : refuse(refused)
  }
  const { balanceMicro, goneIds } = facts
  const answer = await store({ order, balanceMicro, goneIds, gasBudgetWei })
  failpoint('chain-relayer:operation-stored')
  context.wake()
  return answer
}

/** A send that nothing speaks against, and what its wallet holds. */
type Wanted = Holding & {
  readonly order: Order
  readonly gasBudgetWei: bigint
}

const storedAtOnce = 64

/** What the sends of this process that come at the same moment ask of its database together. */
function openShared(database: Context['database']) {
  const read = <I, O>(work: (db: Db, items: readonly I[]) => Promise<(item: I) => O>) =>
    together(async (items: readonly I[]) => {
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
    store: together(
      (wanted: readonly Wanted[]) => database.transaction((tx) => storeAll(tx, wanted)),
      storedAtOnce,
    ),
  }
}

const shared = new WeakMap<Context['database'], ReturnType<typeof openShared>>()

/** The same for all who ask of this database. */
function sharedBy({ database }: Pick<Context, 'database'>) {
  const known = shared.get(database) ?? openShared(database)
  shared.set(database, known)
  return known
}

/**
 * Stores several sends in one transaction, in their order: each counts on no more than those before
 * it leave of its wallet's AUSD.
 */
async function storeAll(tx: Tx, wanted: readonly Wanted[]): Promise<Answer<Sent>[]> {
  const orders = wanted.map(({ order }) => order)
  const wallets = [...new Set(orders.map(({ wallet }) => wallet))]
  await lockWallets(tx, wallets)
  const [stored, taken, leaving, burnt] = await Promise.all([
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
    burntToday(tx, wallets),
  ])
  // Of readings of the same wallet the least: it is the one that shows all that has gone.
  const heldMicro = new Map<Hex, bigint>()
  for (const { order, balanceMicro } of wanted)
    heldMicro.set(order.wallet, atMost(heldMicro.get(order.wallet) ?? balanceMicro, balanceMicro))
  const known = new Map<string, Known>(stored.map((one) => [one.id, one]))
  const added: Order[] = []
  const answers = wanted.map(({ order, gasBudgetWei }): Answer<Sent> => {
    const { id, wallet, leavesMicro } = order
    const before = known.get(id)
    if (before) return answerAgain(order, before)
    if (taken.has(id)) return refuse('authorization_conflict')
    const left = (leaving.get(wallet) ?? 0n) + leavesMicro
    if (left > (heldMicro.get(wallet) ?? 0n)) return refuse('balance_too_low')
    if (burnt.pausedSince) return refuse('relaying_paused', burnt.pausedSince)
    if (burnt.weiOf(wallet) >= gasBudgetWei) return refuse('gas_budget_spent')
    leaving.set(wallet, left)
    known.set(id, order)
    added.push(order)
    return answerAgain(order, order)
  })
  // Under the lock of its wallet nobody else stores a send of the same key.
  await insertOperations(tx, added)
  return answers
}

type Known = Pick<Operation, 'contentHash'> & Task

function answerAgain(order: Order, known: Known): Answer<Sent> {
  if (known.contentHash !== order.contentHash || known.kind !== 'send')
    return refuse('authorization_conflict')
  const { sendId, authorization } = known.payload
  return ok({ sendId, ausd: authorization.value, to: authorization.to })
}
