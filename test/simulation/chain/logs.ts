import { encodeAbiParameters, encodeEventTopics, type Hex, numberToHex, pad } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { type CallRefusal, type Op, revertData, type Transfer } from './calls'
import type { AutoRepaid } from './contract'

export const ausd: Hex = '0x00000000000000000000000000000000000a05d0'
export const creditLine: Hex = '0x0000000000000000000000000000000000c4ed17'

const [usedTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'AuthorizationUsed' })
const [transferTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'Transfer' })
const [cancelledTopic] = encodeEventTopics({ abi: ausdAbi, eventName: 'AuthorizationCanceled' })
const [appliedTopic] = encodeEventTopics({ abi: creditLineAbi, eventName: 'AlreadyApplied' })
const [autoRepaidTopic] = encodeEventTopics({ abi: creditLineAbi, eventName: 'AutoRepaid' })
const [failedTopic] = encodeEventTopics({ abi: creditLineAbi, eventName: 'OpFailed' })

export function logsOf({ ops }: { readonly ops: readonly Op[] }, failed: ReadonlyMap<number, CallRefusal>): object[] {
  const moved = ops.flatMap((op) => (op.kind === 'transfer' ? movedLogs(op.terms) : []))
  const ofRefs = ops.flatMap((op, position) => {
    if (!('ref' in op)) return []
    const refusal = failed.get(position)
    return refusal ? failedLog(position, op.ref, refusal) : appliedLog(op.ref)
  })
  return [...moved, ...ofRefs]
}

export const autoRepaidLog = ({ wallet, amount, fromCollateral }: AutoRepaid): object => ({
  address: creditLine,
  topics: [autoRepaidTopic!, pad(wallet)],
  data: encodeAbiParameters([{ type: 'uint256' }, { type: 'bool' }, { type: 'uint256' }], [amount, fromCollateral, 1n]),
})

/** Returns a log that stands for the event of each kind. */
const appliedLog = (ref: Hex): object => ({
  address: creditLine,
  topics: [appliedTopic!, ref],
  data: '0x',
})

const failedLog = (position: number, ref: Hex, refusal: CallRefusal): object => ({
  address: creditLine,
  topics: [failedTopic!, numberToHex(position, { size: 32 }), ref],
  data: encodeAbiParameters([{ type: 'bytes' }], [revertData(refusal) ?? '0x']),
})

export const movedLogs = (transfer: Transfer): object[] => [
  {
    address: ausd,
    topics: [usedTopic!, pad(transfer.from), transfer.nonce],
    data: '0x',
    logIndex: 0,
  },
  { ...transferLog(transfer), logIndex: 1 },
]

export const transferLog = ({ from, to, value }: Omit<Transfer, 'nonce'>): object => ({
  address: ausd,
  topics: [transferTopic!, pad(from), pad(to)],
  data: numberToHex(value, { size: 32 }),
})

export const topicOfUse = ({ isCancelled }: { readonly isCancelled: boolean }): Hex =>
  isCancelled ? cancelledTopic! : usedTopic!
