import { signInText } from '#shared/api/session'

/** A signer of sign-in texts: a viem account or a browser wallet. */
export type Signer = {
  readonly address: `0x${string}`
  readonly signMessage: (given: { message: string }) => Promise<`0x${string}`>
}

/** Returns the `Authorization` header of a wallet, valid until `until` (Unix seconds). */
export async function signIn(account: Signer, until: number): Promise<string> {
  const signature = await account.signMessage({ message: signInText(account.address, until) })
  return `Service ${account.address.toLowerCase()}.${until}.${signature}`
}

const lifetimeSeconds = 86_400
/** Time before its expiry at which a session is renewed, in seconds, so that it does not expire in transit. */
const renewSeconds = 300

export function openSession(account: Signer) {
  let current: { header: Promise<string>; until: number } | undefined
  const header = (): Promise<string> => {
    const now = Math.floor(Date.now() / 1000)
    if (!current || current.until - now < renewSeconds) {
      const until = now + lifetimeSeconds
      const mine = { header: signIn(account, until), until }
      // If the user declined to sign, the next request asks again.
      mine.header.catch(() => {
        if (current === mine) current = undefined
      })
      current = mine
    }
    return current.header
  }
  return {
    header,
    /** Makes the next request sign again after this header was refused, unless another request already has. */
    forget: async (refused: string) => {
      const mine = current
      if (mine && (await mine.header) === refused && current === mine) current = undefined
    },
  }
}
