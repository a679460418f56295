import { type Hex, keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type AuthorizationTerms, type TokenDomain, typedTransfer } from '#shared/chain/erc3009'
import type { Tx } from '#shared/db/open'
import {
  type Deed,
  overLimit,
  type Policy,
  type Spend,
  spendings,
  spendsOfCall,
  spendsOfTransfer,
} from './policy'
import { countSpent } from './spent.store'

// The private keys are here and nowhere else, and each signs in one way alone: what the policy lets
// pass, counted in the transaction in which it is signed. There is no other way to a signature.

/** What a transaction does, and the gas it may use. */
export type Call = Deed & { readonly gas: bigint }

/** Fees of a type-2 transaction, in wei per gas. */
export type Fees = { readonly maxFeeWei: bigint; readonly priorityWei: bigint }

export type Signed = { readonly raw: Hex; readonly hash: Hex }

/** A key that sends transactions. */
export type LaneKey = {
  readonly address: Hex
  /**
   * Signs without asking the node; the same fields give the same bytes (RFC 6979). Throws
   * `PolicyRefused`: then the transaction must not commit.
   */
  readonly sign: (tx: Tx, fields: { nonce: number; call: Call; fees: Fees }) => Promise<Signed>
}

/** The key that holds the treasury's AUSD. */
export type TreasuryKey = {
  readonly address: Hex
  /**
   * Signs a transfer of the treasury. Throws `PolicyRefused`: then the transaction must not commit.
   */
  readonly sign: (tx: Tx, domain: TokenDomain, terms: AuthorizationTerms) => Promise<Hex>
}

export type Keys = { readonly keys: readonly LaneKey[]; readonly treasury: TreasuryKey }

/** The only place that is given private keys. */
export const openKeys = (
  secret: { laneKeys: readonly Hex[]; treasuryKey: Hex },
  policy: Policy,
): Keys => ({
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
    sign: async (tx, domain, terms) => {
      await count(tx, policy, address, spendsOfTransfer(policy, address, domain, terms))
      return account.signTypedData(typedTransfer(domain, terms))
    },
  }
}

/** Counts what is about to be signed; throws `PolicyRefused` when the day has no room for it. */
async function count(tx: Tx, { limits }: Policy, signer: Hex, spends: readonly Spend[]) {
  for (const spending of spendings) {
    const own = spends.filter((spend) => spend.spending === spending)
    if (own.length === 0) continue
    const day = await countSpent(tx, signer.toLowerCase() as Hex, spending, own)
    if (day !== undefined && day > limits[spending].day)
      throw overLimit(`a day's ${spending} of ${day}, ${limits[spending].day} at most`)
  }
}
