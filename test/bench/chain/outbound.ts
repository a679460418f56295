import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem'
import type { DeployedContracts } from '#infra/contracts/deploy'
import { devAccount } from '#infra/local/keys'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { type OpKind, opKinds } from '#shared/chain/gas'
import type { Act } from './history'

export const relayer = devAccount('bench relayer').address
export const verifier = devAccount('bench verifier').address

/** Returns the address of a wallet. It has no key, because the node impersonates it. */
export const walletAt = (index: number): Address => numberToHex((0xbe9cn << 144n) + BigInt(index), { size: 20 })

type Op = { kind: number; ref: Hex; account: Address; amount: bigint; paidAt: bigint }
type Transaction = { from: Address; data: Hex }
/** Payment time that is later than any block, so the contract uses the block's time. */
const paidNow = 2n ** 40n

/** Turns acts into transactions. Relayer actions of a block become one `many` call, as in the service. */
export function openOutbound(deployment: DeployedContracts) {
  const nonces = new Map<Address, number>()
  const lotRefs = new Map<Address, Hex>()
  let refs = 0
  let ops: Op[] = []
  let own: Transaction[] = []
  const nextNonce = (from: Address) => {
    const nonce = nonces.get(from) ?? 0
    nonces.set(from, nonce + 1)
    return nonce
  }
  const call = (from: Address, functionName: string, args: readonly unknown[]) => {
    const data = encodeFunctionData({ abi: creditLineAbi, functionName, args } as never)
    own.push({ from, data })
  }
  const relay = (kind: OpKind, account: Address, amount: bigint) => {
    const fresh = numberToHex(++refs, { size: 32 })
    const ref = kind === 'revokeTopUp' ? lotRefs.get(account)! : fresh
    if (kind === 'heldTopUp') lotRefs.set(account, ref)
    const paidAt = kind === 'repayFor' ? paidNow : 0n
    ops.push({ kind: opKinds[kind], ref, account, amount, paidAt })
  }
  return {
    add: (wallet: Address, act: Act) => {
      switch (act.kind) {
        case 'verify':
          return call(verifier, 'setVerified', [wallet, true])
        case 'draw':
          return call(wallet, 'draw', [act.amountMicro, wallet])
        case 'withdraw':
          return call(wallet, 'withdrawCollateral', [act.amountMicro, wallet])
        case 'repayFromCollateral':
          return call(wallet, 'repayFromCollateral', [act.amountMicro])
        case 'markDefault':
          return call(verifier, 'markDefault', [wallet])
        case 'revoke':
          return relay('revokeTopUp', wallet, 0n)
        default:
          return relay(act.kind, wallet, act.amountMicro)
      }
    },
    take: () => {
      if (ops.length > 0) call(relayer, 'many', [ops])
      const sent = own.map(({ from, data }) => ({
        from,
        to: deployment.creditLine,
        data,
        nonce: numberToHex(nextNonce(from)),
        gas: numberToHex(from === relayer ? 1_000_000 + 300_000 * ops.length : 600_000),
        gasPrice: '0x0',
      }))
      ops = []
      own = []
      return sent.map((transaction) => ({ method: 'eth_sendTransaction', params: [transaction] }))
    },
  }
}
