import { type Hex, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Tx } from '#platform/db/open'
import { typedTransfer } from '#shared/chain/erc3009'
import {
  type CallContent,
  overLimit,
  type Policy,
  type Spend,
  spendings,
  spendsOfCall,
  spendsOfTransfer,
  type TreasuryTransfer,
} from './policy'
import { countSigned } from './signed-amounts.store'

// This is the only module that holds private keys. A key signs only what the policy allows, and counts it against its
// limits in the same database transaction.

export type CallToSign = CallContent & { readonly gas: bigint }

/** Fees of a transaction, in wei per gas. */
export type Fees = { readonly maxFeeWei: bigint; readonly priorityWei: bigint }

export type Signed = { readonly raw: Hex; readonly hash: Hex }

export type LaneKey = {
  readonly address: Hex
  /**
   * Signs a transaction; the same fields give the same bytes (RFC 6979). Throws `PolicyRefused`, after which `tx` must
   * not commit.
   */
  readonly sign: (tx: Tx, fields: { nonce: number; call: CallToSign; fees: Fees }) => Promise<Signed>
}

export type TreasuryKey = {
  readonly address: Hex
  /** Signs a transfer of the treasury. Throws `PolicyRefused`, after which `tx` must not commit. */
  readonly sign: (tx: Tx, transfer: TreasuryTransfer) => Promise<Hex>
}

export type Keys = { readonly keys: readonly LaneKey[]; readonly treasury: TreasuryKey }

export const openKeys = (secret: { laneKeys: readonly Hex[]; treasuryKey: Hex }, policy: Policy): Keys => ({
  keys: secret.laneKeys.map((key) => openLaneKey(key, policy)),
  treasury: openTreasuryKey(secret.treasuryKey, policy),
})

function openLaneKey(privateKey: Hex, policy: Policy): LaneKey {
  const account = privateKeyToAccount(privateKey)
  const { address } = account
  return {
    address,
    sign: async (tx, { nonce, call, fees }) => {
      await count(tx, policy, address, spendsOfCall(policy, nonce, call))
      const raw = await account.signTransaction({
        type: 'eip1559',
        chainId: policy.chainId,
        nonce,
        to: call.to,
        data: call.data,
        value: call.valueWei,
        gas: call.gas,
        maxFeePerGas: fees.maxFeeWei,
        maxPriorityFeePerGas: fees.priorityWei,
      })
      return { raw, hash: keccak256(raw) }
    },
  }
}

function openTreasuryKey(privateKey: Hex, policy: Policy): TreasuryKey {
  const account = privateKeyToAccount(privateKey)
  const { address } = account
  return {
    address,
    sign: async (tx, transfer) => {
      await count(tx, policy, address, spendsOfTransfer(policy, address, transfer))
      const { domain, terms } = transfer
      return account.signTypedData(typedTransfer(domain, terms))
    },
  }
}

async function count(tx: Tx, { limits }: Policy, signer: Hex, spends: readonly Spend[]) {
  for (const spending of spendings) {
    const own = spends.filter((spend) => spend.spending === spending)
    if (own.length === 0) continue
    const day = await countSigned(tx, signer.toLowerCase() as Hex, spending, own)
    // guard: a key signs no more in a day than its limit
    if (day !== undefined && day > limits[spending].day)
      throw overLimit(`${spending} of ${day} today exceeds the daily limit of ${limits[spending].day}`)
  }
}
