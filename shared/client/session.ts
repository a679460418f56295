import { signInText } from '#shared/api/session'

/** Whoever signs for a wallet: an account of viem, or a wallet of the browser behind the same names. */
export type Signer = {
  readonly address: `0x${string}`
  readonly signMessage: (given: { message: string }) => Promise<`0x${string}`>
}

/** The `Authorization` header of a wallet: one signature, good until `until` (unix seconds). */
export async function signIn(account: Signer, until: number): Promise<string> {
  const signature = await account.signMessage({ message: signInText(account.address, until) })
  return `Service ${account.address.toLowerCase()}.${until}.${signature}`
}

const lifetimeSeconds = 86_400
/** Signed anew so long before its end, so that none ends on its way. */
const renewSeconds = 300

/** The session of an account, signed when it is first needed and again before it ends. */
export function openSession(account: Signer) {
  let current: { header: Promise<string>; until: number } | undefined
  const header = (): Promise<string> => {
    const now = Math.floor(Date.now() / 1000)
    if (!current || current.until - now < renewSeconds) {
      const until = now + lifetimeSeconds
      const mine = { header: signIn(account, until), until }
      // A person who declined to sign once is asked again the next time.
      mine.header.catch(() => {
        if (current === mine) current = undefined
      })
      current = mine
    }
    return current.header
  }
  return {
    header,
    /** Whoever has a session has what it proves: to sign out is to forget it. */
    forget: () => {
      current = undefined
    },
  }
}
