import { sql } from 'drizzle-orm'
import { type Answering, answering } from '#shared/bus/serve'
import { toUnixSeconds } from '#shared/clock'
import { failpoint } from '#shared/failpoint'
import { SendCreate } from '#shared/messages/chain'
import { type Answer, ok, refuse } from '#shared/refusals'
import { isTaken, leavingMicro } from './in-flight.store'
import type { SignedTransfer } from './operation'
import { findOperation, insertOperation, type Operation } from './operation.store'
import { canonical, type Order, orderOf, sendIdOf } from './order'
import { type Desk, unlessUnreadable } from './questions'
import { refusalOfSend, refusalOfWords } from './send'
import { signerFacts } from './signer-facts'

type Sent = { sendId: string; ausd: string; to: string }

/** Relays a signed transfer once: (from, nonce) is the key, a repeat gets the first answer again. */
export const sendAnswers = (desk: Desk): Answering[] => [
  answering(SendCreate, ({ wallet, authorization }) =>
    unlessUnreadable(desk.log, () => createSend(desk, wallet, canonical(authorization))),
  ),
]

export async function createSend(
  desk: Desk,
  wallet: string,
  signed: SignedTransfer,
): Promise<Answer<Sent>> {
  const { database, contracts } = desk
  const nowSeconds = BigInt(toUnixSeconds(desk.clock()))
  const words = { wallet, token: contracts.ausd, nowSeconds, signed }
  const sendId = sendIdOf(signed)
  const order = orderOf({ kind: 'send', payload: { sendId, authorization: signed } })
  // Whose authorization it is comes first: nobody learns of the sends of another wallet.
  if (refusalOfWords(words) === 'wallet_not_from') return refuse('wallet_not_from')
  const known = await database.read((db) => findOperation(db, order.id))
  if (known) return answerAgain(order, known)
  const broken = refusalOfWords(words)
  if (broken) return refuse(broken)
  const facts = await signerFacts(desk, signed)
  const refused = refusalOfSend(words, facts)
  if (refused) return refuse(refused)
  return store(desk, order, facts.balanceMicro)
}

/** One send of a wallet at a time: two at once must not both count on the same AUSD. */
const alone = (wallet: string) => sql`select pg_advisory_xact_lock(hashtext(${wallet}))`

async function store(desk: Desk, order: Order, balanceMicro: bigint): Promise<Answer<Sent>> {
  const { wallet, authorizationNonce, leavesMicro } = order
  const answer = await desk.database.transaction(async (tx) => {
    await tx.execute(alone(wallet))
    if (await isTaken(tx, wallet, authorizationNonce!)) return refuse('authorization_conflict')
    const leaving = await leavingMicro(tx, wallet, authorizationNonce!)
    if (balanceMicro - leaving < leavesMicro) return refuse('balance_too_low')
    await insertOperation(tx, order)
    return answerAgain(order, (await findOperation(tx, order.id))!)
  })
  failpoint('relayer:operation-stored')
  desk.wake()
  return answer
}

function answerAgain(order: Order, known: Operation): Answer<Sent> {
  if (known.contentHash !== order.contentHash || known.kind !== 'send')
    return refuse('authorization_conflict')
  const { sendId, authorization } = known.payload
  return ok({ sendId, ausd: authorization.value, to: authorization.to })
}
