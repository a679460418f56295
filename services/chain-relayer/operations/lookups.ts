import { type Loop, startLoop } from '#shared/loop'
import { type LookUp, lookFurther, type Use } from '../chain/authorization'
import type { Head } from '../chain/node'
import type { Context } from '../context'
import { type Operation, postponeOperation } from './operation.store'

// What became of a used authorization is searched for in the logs of the token, a hundred blocks at a
// time. That may take hundreds of queries, and whoever signs an authorization can cause it; so rounds
// wait for none of them. They ask here, and ask again: the search goes on meanwhile, one step for each
// wallet in turn.

/** Clocks may differ a little, and so may endpoints, one of which found it unused when we got it. */
const marginSeconds = 600n

/**
 * The earliest moment, in unix seconds, at which a use may be in a block. It was unused when we got
 * it, which for a take was when the cash-out was accepted; and the token takes none before its window.
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

/** More are not searched for at once; the others are asked for again. */
const lookUpsMax = 1_000

/**
 * What became of the authorization of an operation, which the token calls used in the finalized
 * `head`. Undefined while it is searched for; throws when the last step failed.
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
    known.fault = undefined // The search goes on from where it stopped.
    throw fault
  }
  if (known) return undefined
  // Answers that nobody came back for: somebody else ended the operation meanwhile.
  if (lookUps.size >= lookUpsMax)
    for (const [id, { answer }] of lookUps) if (answer) lookUps.delete(id)
  if (lookUps.size < lookUpsMax) {
    const since = usableSince(operation, terms.validAfter)
    lookUps.set(operation.id, { terms, since, to: head.number, chunks: 0 })
  }
  return undefined
}

const walletsAtOnce = 4

/** One step for some wallets, those whose turn was longest ago. False: there is nothing to search for. */
export async function lookOnce(context: Context, turns: Map<string, number>): Promise<boolean> {
  const { database, memory } = context
  const open = [...memory.lookUps].filter(
    ([, { answer, fault }]) => answer === undefined && fault === undefined,
  )
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

/** Searches for what rounds and the watch ask for, until disposed. */
export function startLookUps(context: Context): Loop {
  const turns = new Map<string, number>()
  return startLoop({
    name: 'look-ups',
    everyMs,
    log: context.log,
    work: async (signal) => {
      let more = true
      while (more && !signal.aborted) more = await lookOnce(context, turns)
    },
  })
}
