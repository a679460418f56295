import { generatePrivateKey } from 'viem/accounts'

const place = 'wallet'

/** Returns the private key of this browser. It is worthless, because only tests use it. */
export const keyOf = (storage: Pick<Storage, 'getItem'>): `0x${string}` | undefined => {
  const key = storage.getItem(place)
  return isKey(key) ? key : undefined
}

export const isKey = (text: string | null): text is `0x${string}` => text !== null && /^0x[0-9a-fA-F]{64}$/.test(text)

export function signIn(key: `0x${string}` = generatePrivateKey()): void {
  localStorage.setItem(place, key)
  location.reload()
}

/** Removes the key. Open orders stay stored under their wallet, in case the key returns. */
export function signOut(): void {
  localStorage.removeItem(place)
  sessionStorage.clear()
  location.reload()
}
