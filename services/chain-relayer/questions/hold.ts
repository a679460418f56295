import type { Static } from 'typebox'
import { multicall3Abi } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { refOf } from '#shared/chain/ref'
import type { ChainHold } from '#shared/messages/chain'
import type { Context } from '../context'
import { blockOfRef } from '../operations/operation.store'
import { multicall3, multicallAbi, timeOrNull } from './account'

export type Hold = Static<(typeof ChainHold)['answer']>

/** `HoldState` of the contract, by its number. */
const states = ['none', 'held', 'released', 'revoked'] as const

/**
 * The hold under a ref id and the chain's clock, in one call: they are of the same block. Undefined:
 * the endpoint lags behind the payment itself, so that it would say `none` of money that is held.
 */
export async function readHold(
  { node, contracts, database }: Context,
  refId: string,
): Promise<Hold | undefined> {
  const line = { address: contracts.creditLine, abi: creditLineAbi } as const
  const [[, , , until, number], blockTime, blockNumber] = await node.reader.multicall({
    allowFailure: false,
    contracts: [
      { ...line, functionName: 'holdOf', args: [refOf(refId)] },
      { address: multicall3, abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' },
      { address: multicall3, abi: multicallAbi, functionName: 'getBlockNumber' },
    ],
  })
  if (blockNumber < (await database.read((db) => blockOfRef(db, refId)))) return undefined
  const state = states[number]
  // Another contract than the one we know: no answer is better than a guess.
  if (!state) throw new Error(`holdOf answered the state ${number}, which has no name here`)
  return { state, until: timeOrNull(until), blockTime: String(blockTime) }
}
