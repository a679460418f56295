import { type Loop, startLoop } from '#platform/loop'
import { type LookUp, lookFurther, type Use } from '../chain/authorization'
import type { Head } from '../chain/node'
import type { Context } from '../context'
import { postponeOperation } from './operation.store'
import type { Operation } from './operation.table'

// A search may take hundreds of queries and any signer can cause one, so a round only starts it and polls its result.
// Searches advance one step per wallet in turn.

/** Margin before the first possible use, for clock skew and a lagging endpoint. */
const marginSeconds = 600n

/**
 * Returns the first time, in Unix seconds, at which the authorization could be used. It was unused when it was received
 * (for a take, when the cash-out was accepted), and is invalid before `validAfter`.
 */
export function usableSince(
  { payload, createdAt }: Pick<Operation, 'payload' | 'createdAt'>,
  validAfter: string,
): bigint {
  const storedAt = BigInt(Math.floor(createdAt.getTime() / 1_000))
  const receivedAt = 'receivedAt' in payload ? BigInt(payload.receivedAt ?? storedAt) : storedAt
  const gotAt = (receivedAt < storedAt ? receivedAt : storedAt) - marginSeconds
  return gotAt > BigInt(validAfter) ? gotAt : BigInt(validAfter)
}

const lookUpsMax = 1_000

/**
 * Returns how an authorization was used that the finalized `head` shows as used. Returns undefined while the search
 * runs; throws if its last step failed.
 */
export function useOf(
  { memory: { lookUps } }: Context,
  operation: Operation,
  terms: LookUp['terms'],
  head: Head,
): Use | undefined {
  const known = lookUps.get(operation.id)
  if (known?.answer) {
    lookUps.delete(operation.id)
    return known.answer
  }
  if (known?.fault !== undefined) {
    const { fault } = known
    known.fault = undefined // The search resumes where it stopped.
    throw fault
  }
  if (known) return undefined
  // Other instances may have ended these operations, so finished searches are dropped first.
  if (lookUps.size >= lookUpsMax) for (const [id, { answer }] of lookUps) if (answer) lookUps.delete(id)
  if (lookUps.size < lookUpsMax) {
    const since = usableSince(operation, terms.validAfter)
    lookUps.set(operation.id, { terms, since, head: head.number, to: head.number, chunks: 0, endpoint: 0 })
  }
  return undefined
}

const walletsAtOnce = 4

/**
 * Advances searches by one step, beginning with the wallets that have waited longest. Returns false if no search is
 * open.
 */
export async function searchOnce(context: Context, turns: Map<string, number>): Promise<boolean> {
  const { database, memory } = context
  const open = [...memory.lookUps].filter(([, { answer, fault }]) => answer === undefined && fault === undefined)
  const firsts = new Map<string, [string, LookUp]>()
  for (const one of open) {
    const { from } = one[1].terms
    if (!firsts.has(from)) firsts.set(from, one)
  }
  const turnOf = (wallet: string) => turns.get(wallet) ?? 0
  const wallets = [...firsts.keys()].sort((left, right) => turnOf(left) - turnOf(right))
  const now = Math.max(0, ...turns.values()) + 1
  for (const wallet of turns.keys()) if (!firsts.has(wallet)) turns.delete(wallet)
  await Promise.all(
    wallets.slice(0, walletsAtOnce).map(async (wallet) => {
      turns.set(wallet, now)
      const [id, lookUp] = firsts.get(wallet)!
      try {
        await lookFurther(context, lookUp)
      } catch (fault) {
        lookUp.fault = fault
      }
      if (!lookUp.answer) return
      await database.run((db) => postponeOperation(db, id, 0, 0))
      context.wake()
    }),
  )
  return open.length > 0
}

const everyMs = 200

export function startSearches(context: Context): Loop {
  const turns = new Map<string, number>()
  return startLoop({
    name: 'look-ups',
    everyMs,
    log: context.log,
    work: async (signal) => {
      let more = true
      while (more && !signal.aborted) more = await searchOnce(context, turns)
    },
  })
}
