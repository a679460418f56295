import type { Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { GivenAuthorization } from '#shared/chain/erc3009'
import { toUnixSeconds } from '#shared/clock'
import { within } from '#shared/deadline'
import { failpoint } from '#shared/failpoint'
import { type Answer, ok, type RefusalCode, refuse } from '#shared/refusals'
import { isSignedBy, transferDigest } from '../chain/authorization'
import type { Context } from '../context'
import { isBudgetSpent } from '../operations/burnt.store'
import { lapsesSoon, type Order, orderOf, sendIdOf } from '../operations/operation'
import {
  findOperation,
  insertOperation,
  isTaken,
  leavingMicro,
  lockWallet,
  type Operation,
} from '../operations/operation.store'

/** What a decision about an authorization needs to know of the chain. */
export type SignerFacts = {
  readonly verified: boolean
  readonly frozen: boolean
  readonly signatureValid: boolean
  readonly nonceUsed: boolean
  /** AUSD the wallet holds, less what operations in flight will still move; 10⁻⁶. */
  readonly freeMicro: bigint
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
): Promise<SignerFacts & { balanceMicro: bigint }> {
  const { node, contracts, database } = context
  const from = signed.from.toLowerCase() as Hex
  const digest = transferDigest(contracts.domain, signed)
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const [{ verified, frozen }, signatureValid, nonceUsed, balanceMicro, leaving] =
    await Promise.all([
      context.account(from),
      isSignedBy(node, from, digest, signed.signature as Hex),
      node.reader.readContract({
        ...token,
        functionName: 'authorizationState',
        args: [from, signed.nonce as Hex],
      }),
      node.reader.readContract({ ...token, functionName: 'balanceOf', args: [from] }),
      database.read((db) => leavingMicro(db, from, signed.nonce)),
    ])
  return {
    verified,
    frozen,
    signatureValid,
    nonceUsed,
    balanceMicro,
    freeMicro: balanceMicro - leaving,
  }
}

/** The first read finds a database that hangs, before anything is stored. */
const readDeadlineMs = 1_500

type Sent = { sendId: string; ausd: string; to: string }

/** Relays a signed transfer once: (from, nonce) is the key, a repeat gets the first answer again. */
export async function createSend(
  context: Context,
  wallet: string,
  signed: GivenAuthorization,
): Promise<Answer<Sent>> {
  const { database, contracts } = context
  const nowSeconds = BigInt(toUnixSeconds(context.clock()))
  const { ausd: token, creditLine } = contracts
  const places = { token, creditLine, treasury: context.treasury.address }
  const words = { wallet, ...places, nowSeconds, signed }
  const sendId = sendIdOf(signed)
  const order = orderOf({ kind: 'send', payload: { sendId, authorization: signed } })
  // Whose authorization it is comes first: nobody learns of the sends of another wallet.
  if (refusalOfWords(words) === 'wallet_not_from') return refuse('wallet_not_from')
  const find = () => database.read((db) => findOperation(db, order.id))
  const known = await within(find(), readDeadlineMs, 'the database')
  if (known) return answerAgain(order, known)
  const broken = refusalOfWords(words)
  if (broken) return refuse(broken)
  const facts = await signerFacts(context, signed)
  const refused = refusalOfSend(words, facts)
  if (refused) {
    // The same call, come twice, may have been first: that its nonce is used is no reason to refuse.
    const meanwhile = await find()
    return meanwhile ? answerAgain(order, meanwhile) : refuse(refused)
  }
  return store(context, order, facts.balanceMicro)
}

async function store(context: Context, order: Order, balanceMicro: bigint): Promise<Answer<Sent>> {
  const { wallet, authorizationNonce, leavesMicro } = order
  const answer = await context.database.transaction(async (tx) => {
    await lockWallet(tx, wallet)
    if (await isTaken(tx, wallet, authorizationNonce!)) return refuse('authorization_conflict')
    const leaving = await leavingMicro(tx, wallet, authorizationNonce!)
    if (balanceMicro - leaving < leavesMicro) return refuse('balance_too_low')
    if (await isBudgetSpent(tx, wallet, context.settings.gasBudgetWei))
      return refuse('gas_budget_spent')
    await insertOperation(tx, order)
    return answerAgain(order, (await findOperation(tx, order.id))!)
  })
  failpoint('relayer:operation-stored')
  context.wake()
  return answer
}

function answerAgain(order: Order, known: Operation): Answer<Sent> {
  if (known.contentHash !== order.contentHash || known.kind !== 'send')
    return refuse('authorization_conflict')
  const { sendId, authorization } = known.payload
  return ok({ sendId, ausd: authorization.value, to: authorization.to })
}
