/** Why a lane must not give out nonces. */
export type LaneFault = 'chain_ahead' | 'nonce_missing'

/**
 * Compares the durable record with the chain's count at `latest`. `chain_ahead`: this key sent
 * something we have no row of (a restored backup, another program). `nonce_missing`: a nonce we gave
 * out is neither mined nor open, so nothing after it would ever be mined (another chain).
 */
export function laneFault(lane: {
  nextNonce: number
  chainCount: number
  openNonces: ReadonlySet<number>
}): LaneFault | null {
  if (lane.chainCount > lane.nextNonce) return 'chain_ahead'
  for (let nonce = lane.chainCount; nonce < lane.nextNonce; nonce++)
    if (!lane.openNonces.has(nonce)) return 'nonce_missing'
  return null
}

export const faultAdvice: { readonly [F in LaneFault]: string } = {
  chain_ahead:
    'the key sent transactions this database does not know: find them, then set lane.next_nonce',
  nonce_missing: 'the chain has fewer transactions than were final before: is it the right chain?',
}
