import { createHash } from 'node:crypto'

/** Mark that every password and token published in this repository contains. */
const mark = /local[-_]only/i

/** SHA-256 of the local chain's private keys, since a key cannot contain the mark. */
const keys: ReadonlySet<string> = new Set([
  '75ad900de7beadb5aad59aef9b32b60fa2b5e5d845d664ff33883c68694404bf', // admin
  '1ed219b71caa54450b107f7c3c3c573dc4d0832ce75787be00824b27a0b947bd', // treasury
  'acc9afd482c2ebf33c5ddc9b44177538b608959f4b8351af6102c02cdf79b7d6', // lane 0
  '8ca6ade4ed7724f89f03ed97cddd8d0ac19475bacaf8442c3ad77aac9fc41882', // lane 1
])

/** Returns true if a value is, or contains, a secret published in this repository. */
export const isPublicSecret = (value: string): boolean =>
  mark.test(value) || value.split(',').some((part) => keys.has(hashOf(part.trim().toLowerCase())))

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
