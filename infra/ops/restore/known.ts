import type { Sql } from 'postgres'
import type { Address, Hex } from 'viem'
import { refOf } from '#shared/chain/ref'

/** What a ref on the chain stands for. */
export type Named = { refId: string; wallet: string; kind: 'topup' | 'settlement' }
export type KnownLane = {
  address: Address
  nextNonce: number
  isLeased: boolean
  fault: string | null
}

/** An order to give back; `name` is the transfer that came, `<transaction>:<log>`. */
export type KnownGiveback = {
  name: string
  wallet: string
  ausdMicro: bigint
  payload: Readonly<Record<string, unknown>>
}

/** What the rows know, as far as it explains what the lanes sent. Wallets in lower case. */
export type Known = {
  payments: Set<string>
  /** Payments of the last weeks that no ref was applied for, and what was promised: 10⁻⁶ AUSD. */
  uncredited: Map<string, bigint>
  refs: Map<Hex, Named>
  payouts: Set<string>
  /** By `authorizer:nonce`, and by the nonce of a return: the payout. */
  takes: Map<string, string>
  returns: Map<Hex, { payoutId: string; wallet: string; ausdMicro: bigint }>
  /** By the nonce of its transfer: AUSD that came unasked, and was ordered to go back. */
  givebacks: Map<Hex, KnownGiveback>
  /** Wallets whose identity is asked about. */
  asked: Set<string>
  frozen: Set<string>
  lanes: KnownLane[]
  /** Hashes of everything the relayer has signed and not concluded: it concludes those itself. */
  signed: Set<string>
  /** The lowest nonce per lane that is not concluded. */
  openFrom: Map<string, number>
  identityProvider: string | undefined
  /** Rupiah for a dollar, of the newest cash-out. */
  rateMinorPerUsd: bigint | undefined
}

/** A remainder has a ref of its own; so many may have been made since the backup. */
const remaindersMax = 4

export const namesOf = (id: string, part: number, wallet: string, kind: Named['kind']) =>
  Array.from({ length: part + remaindersMax + 1 }, (_, number): [Hex, Named] => {
    const refId = number === 0 ? id : `${id}.${number}`
    return [refOf(refId), { refId, wallet: wallet.toLowerCase(), kind }]
  })

/** States of a payment whose row does not know of any credit or repayment. */
export const uncreditedStates = [
  ...(['opening', 'awaiting_payment', 'expired', 'replaced', 'paid', 'refunded'] as const),
]

/** Reads it all in one snapshot. */
export const readKnown = (sql: Sql): Promise<Known> =>
  sql.begin('isolation level repeatable read read only', async (tx) => {
    const payments = await tx<{ id: string; part: number; wallet: string; kind: Named['kind'] }[]>`
      select id, part, wallet, kind from payments.payments`
    const uncredited = await tx<{ id: string; ausd: string }[]>`
      select id, ausd_micro as ausd from payments.payments
      where state = any(${[...uncreditedStates]}) and part = 0 and credited_at is null
        and created_at > now() - interval '30 days'`
    const payouts = await tx<
      { id: string; wallet: string; ausd: string; authorizer: string; nonce: string }[]
    >`select id, wallet, ausd_micro as ausd, authorizer, authorization_nonce as nonce
      from payouts.payouts`
    const givebacks = await tx<Omit<KnownGiveback, 'ausdMicro'>[]>`
      select cause as name, wallet, payload from chain_relayer.operation where kind = 'giveback'`
    const asked = await tx<{ wallet: string; provider: string }[]>`
      select wallet, provider from gateway.identity_rechecks order by created_at desc`
    const frozen = await tx<{ wallet: string }[]>`
      select wallet from payments.wallets where frozen`
    const lanes = await tx<KnownLane[]>`
      select address, next_nonce as "nextNonce", fault,
        coalesce(leased_until > now(), false) as "isLeased" from chain_relayer.lane`
    const open = await tx<{ lane: string; nonce: number; hash: string }[]>`
      select t.lane, t.nonce, a.hash from chain_relayer.transaction t
      join chain_relayer.attempt a on a.lane = t.lane and a.nonce = t.nonce
      where t.outcome is null order by t.nonce desc`
    const [newest] = await tx<{ rate: string }[]>`
      select rate_minor_per_usd as rate from payouts.payouts order by created_at desc limit 1`
    return {
      payments: new Set(payments.map(({ id }) => id)),
      uncredited: new Map(uncredited.map(({ id, ausd }) => [id, BigInt(ausd)])),
      refs: new Map(
        payments.flatMap(({ id, part, wallet, kind }) => namesOf(id, part, wallet, kind)),
      ),
      payouts: new Set(payouts.map(({ id }) => id)),
      takes: new Map(payouts.map((row) => [`${row.authorizer}:${row.nonce}`, row.id])),
      returns: new Map(payouts.map((row) => [returnNonce(row.id), returnOf(row)])),
      givebacks: new Map(givebacks.map((row) => [givebackNonce(row.name), givebackOf(row)])),
      asked: new Set(asked.map(({ wallet }) => wallet)),
      frozen: new Set(frozen.map(({ wallet }) => wallet)),
      lanes: [...lanes],
      signed: new Set(open.map(({ hash }) => hash)),
      openFrom: new Map(open.map(({ lane, nonce }) => [lane, nonce])),
      identityProvider: asked[0]?.provider,
      rateMinorPerUsd: newest && BigInt(newest.rate),
    }
  })

/** The authorization nonce under which the treasury gives a payout back. */
export const returnNonce = (payoutId: string): Hex => refOf(`return:${payoutId}`)

/** The authorization nonce under which the treasury gives back what came unasked. */
export const givebackNonce = (name: string): Hex => refOf(`giveback:${name}`)

const givebackOf = (row: Omit<KnownGiveback, 'ausdMicro'>): KnownGiveback => ({
  ...row,
  ausdMicro: BigInt(row.payload.ausd as string),
})

const returnOf = ({ id, wallet, ausd }: { id: string; wallet: string; ausd: string }) => ({
  payoutId: id,
  wallet: wallet.toLowerCase(),
  ausdMicro: BigInt(ausd),
})
