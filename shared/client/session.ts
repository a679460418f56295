import { signInText } from '#shared/api/session'
import { learnServiceTime, serviceMs } from '#shared/client/service-time'

/** A signer of sign-in texts, such as a viem account. `fromWallet` makes one of a browser wallet. */
export type Signer = {
  readonly address: `0x${string}`
  readonly signMessage: (given: { message: string }) => Promise<`0x${string}`>
}

/**
 * Keeps the header of a session beyond the life of the app, which then need not ask for a signature again. If one of its
 * functions fails, the session lasts as long as the client.
 */
export type SessionStore = {
  /** Returns the header that was saved last, or nothing. */
  readonly load: () => string | null | undefined | Promise<string | null | undefined>
  /** Saves a header, which is a secret like a password; null deletes it. */
  readonly save: (header: string | null) => unknown
}

/** Returns the `Authorization` header of a wallet, valid until `until` (Unix seconds). */
export async function signIn(account: Signer, until: number): Promise<string> {
  const signature = await account.signMessage({ message: signInText(account.address, until) })
  return `Service ${account.address.toLowerCase()}.${until}.${signature}`
}

const lifetimeSeconds = 86_400
/** Time before its expiry at which a session is renewed, in seconds, so that it does not expire in transit. */
const renewSeconds = 300

const nowSeconds = () => Math.floor(serviceMs() / 1000)

type Session = { readonly header: Promise<string>; readonly until: number; signed?: string }

export function openSession(account: Signer, store?: SessionStore) {
  let current: Session | undefined
  let loading: Promise<void> | undefined
  const save = async (header: string | null) => {
    try {
      await store?.save(header)
    } catch {}
  }
  // A browser that blocks storage throws at once, and not by a promise.
  const saved = async () => store?.load()
  const load = async () => {
    const header = await saved().catch(() => undefined)
    const until = header ? endOf(header, account.address) : undefined
    if (header && until) current ??= { header: Promise.resolve(header), until, signed: header }
  }
  /** Returns the session unless it ends soon. */
  const lasting = (): Session | undefined =>
    current && current.until - nowSeconds() >= renewSeconds ? current : undefined
  const begin = (): Session => {
    const until = nowSeconds() + lifetimeSeconds
    const mine: Session = { header: signIn(account, until), until }
    current = mine
    mine.header.then(
      (header) => {
        mine.signed = header
        return save(header)
      },
      // If the user declined to sign, the next request asks again.
      () => {
        if (current === mine) current = undefined
      },
    )
    return mine
  }
  const loaded = () => {
    loading ??= load()
    return loading
  }
  return {
    header: async (): Promise<string> => {
      await loaded()
      return (lasting() ?? begin()).header
    },
    /** Returns the header if there is one, without asking or waiting for a signature. */
    known: async (): Promise<string | undefined> => {
      await loaded()
      return lasting()?.signed
    },
    /**
     * Makes the next request sign again after this header was refused, unless another request already has. `serverMs` is the
     * time of the refusal by the service's clock, because the clock of a device may be wrong by days.
     */
    forget: async (refused: string, serverMs?: number) => {
      learnServiceTime(serverMs)
      const mine = current
      if (!mine || (await mine.header) !== refused || current !== mine) return
      current = undefined
      await save(null)
    },
  }
}

/** Returns the end of a header in Unix seconds, or undefined if it is not one of this wallet. */
function endOf(header: string, wallet: string): number | undefined {
  const [name, until] = header.split('.')
  return name === `Service ${wallet.toLowerCase()}` && /^[0-9]{1,12}$/.test(until ?? '') ? Number(until) : undefined
}
