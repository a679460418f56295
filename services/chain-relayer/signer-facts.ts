import type { Hex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { transferDigest } from './authorization'
import { leavingMicro } from './in-flight.store'
import type { SignedTransfer } from './operation'
import type { Desk } from './questions'
import type { SignerFacts } from './send'
import { isSignedBy } from './signature'

/** What the chain and our own books say of this authorization, and of its signer, now. */
export async function signerFacts(
  desk: Desk,
  signed: SignedTransfer,
): Promise<SignerFacts & { balanceMicro: bigint }> {
  const { node, contracts, database } = desk
  const from = signed.from.toLowerCase() as Hex
  const digest = transferDigest(contracts.domain, signed)
  const token = { address: contracts.ausd, abi: ausdAbi } as const
  const [{ verified, frozen }, signatureValid, nonceUsed, balanceMicro, leaving] =
    await Promise.all([
      desk.account(from),
      isSignedBy(node, from, digest, signed.signature as Hex),
      node.reader.readContract({
        ...token,
        functionName: 'authorizationState',
        args: [from, signed.nonce as Hex],
      }),
      node.reader.readContract({ ...token, functionName: 'balanceOf', args: [from] }),
      database.read((db) => leavingMicro(db, from, signed.nonce)),
    ])
  return {
    verified,
    frozen,
    signatureValid,
    nonceUsed,
    balanceMicro,
    freeMicro: balanceMicro - leaving,
  }
}
