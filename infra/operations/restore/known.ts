import type { Sql } from 'postgres'
import type { Address, Hex } from 'viem'
import { refOf } from '#shared/chain/ref'
import type { Fiat } from '#shared/money/money'
import type { ProviderAccount } from '#shared/money/pair'
import { type CashoutState, inFlightStates } from '../../../services/payouts/cashout'

export type RefPayment = { refId: string; wallet: string; kind: 'topup' | 'settlement' }
export type LaneInRows = {
  address: Address
  nextNonce: number
  isLeased: boolean
  fault: string | null
}

/** Columns of a payment that its checkout promises. */
export type PromisedPayment = {
  readonly currency: Fiat
  readonly fiat_minor: bigint
  readonly ausd_micro: bigint
  readonly rate_minor_per_usd: bigint
  readonly topup_fees: string | null
}

/** A payment of the rows without an effect on the chain. Its charge is known unless it was paid since the backup. */
export type UncreditedPayment = PromisedPayment & {
  readonly account: ProviderAccount
  readonly kind: RefPayment['kind']
  readonly state: string
  readonly provider_payment_id: string | null
  readonly paid_minor: bigint | null
}

export type KnownGiveback = {
  name: string
  wallet: string
  ausdMicro: bigint
  payload: Readonly<Record<string, unknown>>
}

/** Contents of the restored rows. Wallets are in lower case. */
export type KnownRows = {
  payments: Set<string>
  /** Recent payments without an effect on the chain, with their promises. */
  uncredited: Map<string, UncreditedPayment>
  refs: Map<Hex, RefPayment>
  payouts: Set<string>
  /** Accepted cash-outs whose AUSD is not being returned. */
  unreturned: Set<string>
  /** State of every cash-out, by id. */
  cashoutStates: Map<string, CashoutState>
  /** Wallets of cash-outs that are in progress, or watched for a reversal, by id. */
  openCashouts: Map<string, string>
  /** Cash-outs that are stored but not accepted, by `authorizer:nonce` of the take. */
  openings: Map<string, string>
  /** Takes by `authorizer:nonce`, and returns by nonce. */
  takes: Map<string, string>
  returns: Map<Hex, { payoutId: string; wallet: string; ausdMicro: bigint }>
  /** Ordered returns of unexplained deposits, by nonce. */
  givebacks: Map<Hex, KnownGiveback>
  /** Wallets with a scheduled identity recheck. */
  asked: Set<string>
  /** Wallets that have had their first native coin. */
  dripped: Set<string>
  frozen: Set<string>
  lanes: LaneInRows[]
  /** Hashes of transactions that the relayer has not finalized. It finalizes them itself. */
  signed: Set<string>
  /** Lowest nonce per lane that is not finalized. */
  openFrom: Map<string, number>
  identityProvider: string | undefined
  /** Rate of the latest cash-out, in rupiah per dollar. */
  rateMinorPerUsd: bigint | undefined
}

/** Maximum number of further refs of a payment since the backup. */
const furtherMax = 4

export const namesOf = (id: string, sequence: number, wallet: string, kind: RefPayment['kind']) =>
  Array.from({ length: sequence + furtherMax + 1 }, (_, number): [Hex, RefPayment] => {
    const refId = number === 0 ? id : `${id}.${number}`
    return [refOf(refId), { refId, wallet: wallet.toLowerCase(), kind }]
  })

export const uncreditedStates = ['opening', 'awaiting_payment', 'expired', 'replaced', 'paid', 'refunded']

export const readKnown = (sql: Sql): Promise<KnownRows> =>
  sql.begin('isolation level repeatable read read only', async (tx) => {
    const payments = await tx<{ id: string; ref_sequence: number; wallet: string; kind: RefPayment['kind'] }[]>`
      select id, ref_sequence, wallet, kind from payments.payments`
    const uncredited = await tx<PromisedRow[]>`
      select id, currency, fiat_minor, ausd_micro, rate_minor_per_usd, topup_fees, account, kind, state,
        provider_payment_id, paid_minor from payments.payments
      where state = any(${[...uncreditedStates]}) and ref_sequence = 0 and credited_at is null
        and created_at > now() - interval '30 days'`
    const cashouts = await tx<
      {
        id: string
        state: CashoutState
        wallet: string
        ausd: string
        authorizer: string
        nonce: string
        isOpening: boolean
        isReturned: boolean
        isOpen: boolean
      }[]
    >`select id, state, wallet, ausd_micro as ausd, authorizer, authorization_nonce as nonce,
        state = 'opening' as "isOpening", state in ('returning', 'returned') as "isReturned",
        state = any(${['opening', ...inFlightStates]}) or next_check_at is not null as "isOpen"
      from payouts.payouts`
    const payouts = cashouts.filter(({ state }) => state !== 'expired')
    const accepted = payouts.filter(({ isOpening }) => !isOpening)
    const openings = payouts.filter(({ isOpening }) => isOpening)
    const givebacks = await tx<Omit<KnownGiveback, 'ausdMicro'>[]>`
      select cause as name, wallet, payload from chain_relayer.operation where kind = 'giveback'`
    const asked = await tx<{ wallet: string; provider: string }[]>`
      select wallet, provider from gateway.identity_rechecks order by created_at desc`
    const dripped = await tx<{ wallet: string }[]>`
      select wallet from chain_relayer.operation where kind = 'drip' and cause = wallet and state = 'settled'`
    const frozen = await tx<{ wallet: string }[]>`
      select wallet from payments.wallets where frozen`
    const lanes = await tx<LaneInRows[]>`
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
      uncredited: new Map(uncredited.map((row) => [row.id, uncreditedFrom(row)])),
      refs: new Map(
        payments.flatMap(({ id, ref_sequence: sequence, wallet, kind }) => namesOf(id, sequence, wallet, kind)),
      ),
      payouts: new Set(accepted.map(({ id }) => id)),
      unreturned: new Set(accepted.flatMap(({ id, isReturned }) => (isReturned ? [] : [id]))),
      cashoutStates: new Map(cashouts.map(({ id, state }) => [id, state])),
      openCashouts: new Map(payouts.flatMap(({ id, wallet, isOpen }) => (isOpen ? [[id, wallet.toLowerCase()]] : []))),
      openings: new Map(openings.map((row) => [`${row.authorizer}:${row.nonce}`, row.id])),
      takes: new Map(accepted.map((row) => [`${row.authorizer}:${row.nonce}`, row.id])),
      returns: new Map(accepted.map((row) => [returnNonce(row.id), returnOf(row)])),
      givebacks: new Map(givebacks.map((row) => [givebackNonce(row.name), givebackOf(row)])),
      asked: new Set(asked.map(({ wallet }) => wallet)),
      dripped: new Set(dripped.map(({ wallet }) => wallet)),
      frozen: new Set(frozen.map(({ wallet }) => wallet)),
      lanes: [...lanes],
      signed: new Set(open.map(({ hash }) => hash)),
      openFrom: new Map(open.map(({ lane, nonce }) => [lane, nonce])),
      identityProvider: asked[0]?.provider,
      rateMinorPerUsd: newest && BigInt(newest.rate),
    }
  })

type PromisedRow = {
  [name in keyof UncreditedPayment]: bigint extends UncreditedPayment[name]
    ? string | Exclude<UncreditedPayment[name], bigint>
    : UncreditedPayment[name]
} & {
  id: string
}
const uncreditedFrom = ({ id: _, ...row }: PromisedRow): UncreditedPayment => ({
  ...row,
  fiat_minor: BigInt(row.fiat_minor),
  ausd_micro: BigInt(row.ausd_micro),
  rate_minor_per_usd: BigInt(row.rate_minor_per_usd),
  paid_minor: row.paid_minor === null ? null : BigInt(row.paid_minor),
})

export const returnNonce = (payoutId: string): Hex => refOf(`return:${payoutId}`)

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
