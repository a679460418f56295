import { BaseError } from 'viem'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import { type Answer, refuse } from '#shared/refusals'
import type { ReadAccount } from './account'
import type { Node } from './node'
import type { Contracts } from './relayer'

/** What the answers to questions are made with. */
export type Desk = {
  readonly database: Database
  readonly node: Node
  readonly contracts: Contracts
  readonly account: ReadAccount
  readonly clock: Clock
  readonly log: Log
  /** Called after an operation was stored. */
  readonly wake: () => void
}

/** A chain that cannot be read is a refusal people can understand; anything else is a fault. */
export async function unlessUnreadable<T>(
  log: Log,
  work: () => Promise<Answer<T>>,
): Promise<Answer<T>> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    log.warn({ err: error.shortMessage }, 'chain could not be read')
    return refuse('chain_unavailable')
  }
}
