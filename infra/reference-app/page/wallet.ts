import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const place = 'wallet'

/** Returns the private key of this browser's wallet, if it has one. It is worth nothing: only tests use it. */
export const keyOf = (storage: Pick<Storage, 'getItem'>): `0x${string}` | undefined => {
  const key = storage.getItem(place)
  return isKey(key) ? key : undefined
}

export const isKey = (text: string | null): text is `0x${string}` =>
  text !== null && /^0x[0-9a-fA-F]{64}$/.test(text)

export const accountOf = (key: `0x${string}`) => privateKeyToAccount(key)

/** Keeps a key, or a new one, and loads the page with it. */
export function signIn(key: `0x${string}` = generatePrivateKey()): void {
  localStorage.setItem(place, key)
  location.reload()
}

/** Forgets the key. Open orders stay, under their wallet, for when the key comes back. */
export function signOut(): void {
  localStorage.removeItem(place)
  sessionStorage.clear()
  location.reload()
}
