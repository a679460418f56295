import { bumped, type Fees, raisedGas } from './fees'
import { stillHeld } from './lane.store'
import { findOperations } from './operation.store'
import type { HeldLane, Relayer } from './relayer'
import { signCall } from './signer'
import { type Call, noopCall } from './transaction'
import { type Attempt, insertAttempt, type OpenTransaction } from './transaction.store'

/** More would help nobody: a person has been called long before. */
const attemptsMax = 40
/** An authorization past its window for so long reverts for sure; a noop is cheaper. */
const lapsedMs = 30_000

/** A lane whose oldest transaction is in no block for too long gets a better one at that nonce. */
export async function renewStuck(relayer: Relayer, held: readonly HeldLane[]): Promise<void> {
  for (const lane of held) {
    const oldest = lane.open[0]
    const newest = oldest?.attempts.at(-1)
    if (!oldest || !newest?.broadcastAt) continue
    if (relayer.clock() - newest.createdAt.getTime() < relayer.settings.bumpAfterMs) continue
    const count = await relayer.node.countAt(lane.lane.address, 'latest')
    if (count > oldest.nonce) continue
    if (await hasLapsed(relayer, oldest)) await giveWay(relayer, lane, oldest)
    else await raiseFees(relayer, lane, oldest)
  }
}

/** Signs the same call anew at the same nonce with higher fees. */
export const raiseFees = (relayer: Relayer, lane: HeldLane, open: OpenTransaction) => {
  const { purpose, gas } = open.attempts.at(-1)!
  return renew(relayer, lane, open, purpose, gas)
}

/** Signs the same call anew at the same nonce with a higher gas limit, and higher fees. */
export const raiseGas = (relayer: Relayer, lane: HeldLane, open: OpenTransaction) => {
  const { purpose, gas } = open.attempts.at(-1)!
  return renew(relayer, lane, open, purpose, raisedGas(gas, 1))
}

/** Fills the nonce with nothing. Whichever attempt is mined decides; a drip never gives way. */
const giveWay = (relayer: Relayer, lane: HeldLane, open: OpenTransaction) =>
  renew(relayer, lane, open, 'noop', noopCall(lane.lane.address).gas)

async function hasLapsed(relayer: Relayer, open: OpenTransaction): Promise<boolean> {
  if (open.purpose !== 'op') return false
  const [operation] = await relayer.database.read((db) => findOperations(db, open.operationIds))
  if (operation?.kind !== 'take' && operation?.kind !== 'send') return false
  const { validBefore } = operation.payload.authorization
  return Number(validBefore) * 1_000 + lapsedMs < relayer.clock()
}

async function renew(
  relayer: Relayer,
  { key, lane }: HeldLane,
  open: OpenTransaction,
  purpose: Attempt['purpose'],
  gas: bigint,
): Promise<void> {
  const last = open.attempts.at(-1)!
  if (open.attempts.length >= attemptsMax) return
  const fees: Fees = bumped(last, await relayer.node.baseFeeWei())
  const { nonce } = open
  const original: Call = { to: open.to, data: open.data, valueWei: open.valueWei, gas }
  const call = purpose === 'noop' ? noopCall(lane.address) : original
  const signed = await signCall(key, relayer.settings.chainId, { nonce, call, fees })
  const attempt = last.attempt + 1
  const stored = await relayer.database.transaction(async (tx) => {
    if (!(await stillHeld(tx, lane, relayer.holder))) return false
    const at = { lane: lane.address, nonce, attempt }
    await insertAttempt(tx, { ...at, ...signed, ...fees, purpose, gas: call.gas })
    return true
  })
  if (stored)
    relayer.log.info({ lane: lane.address, nonce, attempt, purpose }, 'transaction renewed')
}
