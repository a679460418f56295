import { type Hex, parseEventLogs, zeroAddress } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { same, type TransferName, transferEvents } from '../chain/authorization'
import type { ChainReceipt } from '../chain/node'
import type { Context } from '../context'
import type { Arrival } from './arrival'

type Chain = Pick<Context, 'node' | 'contracts' | 'treasury'>

/** Result of a read; `unsettled` means that the block is not final or has changed. */
export type DepositRead = { readonly arrival: Arrival } | { readonly refused: string } | 'unsettled'

const absent = 'no final block contains this AUSD transfer to the treasury'

/** Reads which AUSD this final log brought, or why that cannot be given back. */
export async function readArrival(chain: Chain, name: TransferName): Promise<DepositRead> {
  const { node, contracts, treasury } = chain
  const head = await node.finalizedHead()
  // The name is that of a log, so that an endpoint without the receipt or the log may lack them.
  const hasLog = ({ logs }: ChainReceipt) => logs.some(({ logIndex }) => Number(logIndex) === name.logIndex)
  const receipt = await node.receiptOf(name.txHash, async (found) => hasLog(found))
  if (!receipt) return { refused: absent }
  if (receipt.blockNumber > head.number) return 'unsettled'
  if ((await node.headAt(receipt.blockNumber)).hash !== receipt.blockHash) return 'unsettled'
  return arrivalIn(receipt.logs, { ...contracts, treasury: treasury.address }, name)
}

export function arrivalIn(
  logs: ChainReceipt['logs'],
  { ausd, creditLine, treasury }: Record<'ausd' | 'creditLine' | 'treasury', Hex>,
  name: TransferName,
): Exclude<DepositRead, 'unsettled'> {
  const transfer = tokenEventAt(logs, ausd, name.logIndex)
  if (transfer?.eventName !== 'Transfer') return { refused: absent }
  const { from, to, value: ausdMicro } = transfer.args
  if (!same(to, treasury) || ausdMicro === 0n) return { refused: absent }
  if (same(from, zeroAddress)) return { refused: 'it was minted and has no sender' }
  if (same(from, treasury)) return { refused: 'the treasury sent it to itself' }
  if (same(from, creditLine)) {
    const sent = lineEventAt(logs, creditLine, name.logIndex - 1)
    if (sent?.eventName !== 'Drawn' && sent?.eventName !== 'CollateralWithdrawn')
      return { refused: reasonOf(sent?.eventName) }
    return { arrival: { ...name, wallet: lower(sent.args.account), ausdMicro, nonce: null } }
  }
  // The token emits `AuthorizationUsed` right before the `Transfer` that it belongs to.
  const before = tokenEventAt(logs, ausd, name.logIndex - 1)
  const isSigned = before?.eventName === 'AuthorizationUsed' && same(before.args.authorizer, from)
  const nonce = isSigned ? lower(before.args.nonce) : null
  return { arrival: { ...name, wallet: lower(from), ausdMicro, nonce } }
}

const reasonOf = (eventName: string | undefined): string => {
  if (eventName === 'TopUpRevoked' || eventName === 'RepaymentRevoked')
    return 'the credit line sent it for a revocation'
  if (eventName === 'LiquidityWithdrawn')
    return 'the administrator of the credit line withdrew it from the lending pool'
  return 'the credit line sent it, and no event before it names a user'
}

type Logs = ChainReceipt['logs']

const logAt = (logs: Logs, emitter: Hex, logIndex: number) =>
  logs.filter((one) => Number(one.logIndex) === logIndex && same(one.address, emitter))

const tokenEventAt = (logs: Logs, token: Hex, logIndex: number) =>
  parseEventLogs({ abi: transferEvents, logs: logAt(logs, token, logIndex) })[0]

const lineEventAt = (logs: Logs, creditLine: Hex, logIndex: number) =>
  parseEventLogs({ abi: creditLineAbi, logs: logAt(logs, creditLine, logIndex) })[0]

const lower = (hex: Hex) => hex.toLowerCase() as Hex
