import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { type Clock, isRecent } from '#platform/clock'
import type { Log } from '#platform/log'
import type { PayoutChannel, PayoutProvider } from '../provider'

export type Channels = {
  /** Returns undefined for a bank that the provider does not pay. Throws if there is no list of banks. */
  readonly find: (code: string) => Promise<PayoutChannel | undefined>
  /** Throws if there is no list of banks. */
  readonly all: () => Promise<readonly PayoutChannel[]>
  /** Returns the name of a bank, or its code while the name is unknown. Does not wait for the provider. */
  readonly nameOf: (code: string) => string
}

/** Interval after which a failed fetch is repeated, in ms. */
const retryMs = 5_000

/** Caches the provider's bank list; a stale list serves during a refresh. */
export function openChannels(options: {
  provider: Pick<PayoutProvider, 'listChannels'>
  refreshMs: number
  clock: Clock
  log: Log
}): Channels {
  const { provider, refreshMs, clock, log } = options
  let byCode: ReadonlyMap<string, PayoutChannel> | undefined
  let asked = { at: Number.NEGATIVE_INFINITY, restMs: 0 }
  let fetching: Promise<void> | undefined

  const refresh = async () => {
    try {
      const list = await provider.listChannels()
      if (list.length === 0) throw new Error('the list of banks is empty')
      byCode = new Map(list.map((channel) => [channel.code, channel]))
      asked = { at: clock(), restMs: refreshMs }
    } catch (error) {
      asked = { at: clock(), restMs: retryMs }
      log.warn({ err: error, listed: byCode?.size ?? 0 }, 'bank list fetch failed')
      throw error
    } finally {
      fetching = undefined
    }
  }
  const isDue = () => !isRecent(asked.at, clock(), asked.restMs)
  const listed = async () => {
    if (!byCode || isDue()) {
      fetching ??= refresh()
      if (byCode)
        fetching.catch(() => {}) // A failed refresh leaves the stale list in use.
      else await fetching
    }
    return byCode
  }
  return {
    find: async (code) => (await listed())?.get(code),
    all: async () => [...((await listed())?.values() ?? [])],
    nameOf: (code) => {
      if (isDue()) listed().catch(() => {})
      return byCode?.get(code)?.name ?? code
    },
  }
}

/** Returns undefined if there is no list of banks, and `channel: undefined` for an unknown bank. */
export const findListed = (channels: Channels, code: string) =>
  channels.find(code).then(
    (channel) => ({ channel }),
    () => undefined,
  )

/** Personal data, in memory only while a transfer is ordered. */
export type BankDetails = { readonly accountNumber: string; readonly accountHolderName: string }

export type BankAccount = { readonly channelCode: string; readonly accountNumber: string }

export type SealedDetails = { readonly keyId: string; readonly box: string }

export type DetailsKey = { readonly id: string; readonly key: Buffer }

export type DetailsSafe = {
  readonly seal: (details: BankDetails, payoutId: string) => SealedDetails
  /** Returns one hash per key: the first is stored, the others find rows from before a rotation. */
  readonly marksOf: (account: BankAccount) => readonly string[]
  /** Returns the hash by which a repeated check is recognised. */
  readonly checkMarkOf: (wallet: string, bank: BankAccount & BankDetails) => string
  /** Decrypts bank details. Throws if the key is missing, or the box was altered or belongs to another payout. */
  readonly open: (sealed: SealedDetails, payoutId: string) => BankDetails
}

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Opens a safe whose first key encrypts and whose keys all decrypt. To rotate, prepend a new key. */
export function openDetailsSafe(keys: readonly DetailsKey[]): DetailsSafe {
  const first = keys[0]
  if (!first) throw new Error('no key for bank details')
  const byId = new Map(keys.map(({ id, key }) => [id, key]))
  return {
    seal: (details, payoutId) => ({ keyId: first.id, box: seal(details, payoutId, first.key) }),
    marksOf: (account) => keys.map(({ key }) => markOf(account, key)),
    checkMarkOf: (wallet, { channelCode, accountNumber, accountHolderName }) =>
      hashed(`account check ${wallet} ${channelCode}:${accountNumber} ${accountHolderName}`, first.key),
    open: ({ keyId, box }, payoutId) => {
      const key = byId.get(keyId)
      if (!key) throw new Error(`the key ${keyId} for bank details is not configured`)
      return unseal(box, payoutId, key)
    },
  }
}

/** Returns the hash of a bank account, without leading zeros: some banks accept a number with or without them. */
function markOf({ channelCode, accountNumber }: BankAccount, key: Buffer): string {
  return hashed(`bank account ${channelCode}:${accountNumber.replace(/^0+/, '')}`, key)
}

const hashed = (text: string, key: Buffer): string => createHmac('sha256', key).update(text).digest('base64url')

/** Encrypts bank details. The payout id is authenticated, so that a box fits only its own row. */
function seal({ accountNumber, accountHolderName }: BankDetails, payoutId: string, key: Buffer) {
  const nonce = randomBytes(nonceBytes)
  // guard: sealed bank details open only for their own payout
  const sealing = createCipheriv(cipher, key, nonce).setAAD(Buffer.from(payoutId))
  const text = JSON.stringify({ accountNumber, accountHolderName })
  const sealed = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()])
  return Buffer.concat([nonce, sealed, sealing.getAuthTag()]).toString('base64')
}

function unseal(box: string, payoutId: string, key: Buffer): BankDetails {
  const bytes = Buffer.from(box, 'base64')
  const opening = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  // guard: sealed bank details open only for their own payout
  opening.setAAD(Buffer.from(payoutId)).setAuthTag(bytes.subarray(-tagBytes))
  const sealed = bytes.subarray(nonceBytes, -tagBytes)
  const text = Buffer.concat([opening.update(sealed), opening.final()]).toString('utf8')
  return JSON.parse(text) as BankDetails
}
