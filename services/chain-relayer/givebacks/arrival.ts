import { type Hex, parseEventLogs, zeroAddress } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import type { TransferName } from '../chain/authorization'
import type { Receipt } from '../chain/node'
import type { Context } from '../context'
import type { Arrival } from './giveback'

type Chain = Pick<Context, 'node' | 'contracts' | 'treasury'>

/** Result of reading an arrival; `unsettled`: its block is not final or has changed, so retry. */
export type Read = { readonly arrival: Arrival } | { readonly refused: string } | 'unsettled'

const absent = 'no final block contains this AUSD transfer to the treasury'

/**
 * Reads from the finalized chain which AUSD the treasury received by this log, or why it cannot be
 * given back.
 */
export async function readArrival(chain: Chain, name: TransferName): Promise<Read> {
  const { node, contracts, treasury } = chain
  const head = await node.finalizedHead()
  const receipt = await node.receiptOf(name.txHash)
  if (!receipt) return { refused: absent }
  if (receipt.blockNumber > head.number) return 'unsettled'
  if ((await node.headAt(receipt.blockNumber)).hash !== receipt.blockHash) return 'unsettled'
  const [transfer, before] = [name.logIndex, name.logIndex - 1].map((logIndex) =>
    eventAt(receipt, contracts.ausd, logIndex),
  )
  if (transfer?.eventName !== 'Transfer') return { refused: absent }
  const { from, to, value: ausdMicro } = transfer.args
  if (!same(to, treasury.address) || ausdMicro === 0n) return { refused: absent }
  if (same(from, zeroAddress)) return { refused: 'it was minted and has no sender' }
  if (same(from, contracts.creditLine))
    return { refused: 'the credit line sent it for a revocation' }
  if (same(from, treasury.address)) return { refused: 'the treasury sent it to itself' }
  // The token emits `AuthorizationUsed` right before the `Transfer` it belongs to.
  const isSigned = before?.eventName === 'AuthorizationUsed' && same(before.args.authorizer, from)
  const nonce = isSigned ? lower(before.args.nonce) : null
  return { arrival: { ...name, wallet: lower(from), ausdMicro, nonce } }
}

function eventAt({ logs }: Receipt, token: Hex, logIndex: number) {
  const log = logs.find((one) => Number(one.logIndex) === logIndex)
  if (!log || !same(log.address, token)) return undefined
  const eventName = ['AuthorizationUsed', 'Transfer'] as const
  return parseEventLogs({ abi: ausdAbi, eventName: [...eventName], logs: [log] })[0]
}

const lower = (hex: Hex) => hex.toLowerCase() as Hex
const same = (left: string, right: string) => left.toLowerCase() === right.toLowerCase()
