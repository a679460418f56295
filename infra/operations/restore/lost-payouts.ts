import type { SignedTransfer } from '#shared/chain/erc3009'
import { canonical, type GivenAuthorization } from '#shared/chain/given-authorization'
import { uuidFor } from '#shared/ids'
import { isBack } from './provider'
import { type FoundReturns, type LostPayout, type LostRows, minorOf, type World, wordOf } from './world'

/**
 * Finds cash-outs without a row, or with a row from before they were accepted. A cash-out that was taken but not
 * ordered at the provider is returned, because only the lost row had its bank account.
 */
export async function findPayouts(world: World): Promise<LostRows<LostPayout>> {
  const { known, bus, provider, listed, lanes, treasury } = world
  const found: LostRows<LostPayout> = { rows: [], lines: [], undecided: [] }
  const taken = new Map<string, { authorization: SignedTransfer; hash: string; at: number }>()
  for (const { hash, nonce, actions } of lanes)
    for (const action of actions ?? [])
      if (action.does === 'move' && action.done && action.authorization.to === treasury)
        taken.set(keyOf(action.authorization), { authorization: action.authorization, hash, at: nonce })
  const settled = new Set(known.takes.keys())
  const take = (row: LostPayout, why: string) => {
    settled.add(keyOf(row.authorization))
    found.rows.push(row)
    found.lines.push(`cash-out ${row.id} of ${row.wallet}: ${row.ausdMicro} micro-AUSD, ${why}`)
  }
  const references = new Set(
    listed.flatMap(({ type, reference }) => (type === 'payout' && reference ? [reference] : [])),
  )
  const openings = [...known.openings].flatMap(([key, id]) => (taken.has(key) ? [id] : []))
  for (const id of new Set([...references, ...bus.takes.keys(), ...openings])) {
    if (known.payouts.has(id) || found.rows.some((row) => row.id === id)) continue
    const [payout, ...more] = await provider.payoutsOf(id)
    if (!payout && references.has(id)) {
      found.undecided.push(`payout ${id}: in the provider's list, but not found by its reference`)
      continue
    }
    const words = payout?.metadata
    const [opening] = [...known.openings].find(([, opened]) => opened === id) ?? []
    const key = opening ?? `${wordOf(words, 'wallet')}:${wordOf(words, 'authorization_nonce')}`
    const command = bus.takes.get(id)
    const authorization = command ? canonical(command) : taken.get(key)?.authorization
    if (!authorization || more.length > 0) {
      const sum = payout ? `${payout.amount.decimal} ${payout.currency}, ${payout.id}: ` : ''
      found.undecided.push(`payout ${id}: ${sum}no record of whose AUSD was taken`)
      continue
    }
    const place = taken.get(keyOf(authorization))
    const base = rowOf(world, id, authorization, place?.hash ?? null)
    if (payout) {
      const fiatMinor = minorOf(payout.amount, payout.currency)
      const rate = BigInt(wordOf(words, 'rate') || rateFor(fiatMinor, base.ausdMicro))
      const named = {
        quoteId: wordOf(words, 'quote_id') || `lost:${id}`,
        fiatMinor,
        rateMinorPerUsd: rate,
        requestFingerprint: wordOf(words, 'request_fingerprint') || 'lost',
        channelCode: payout.channel_code ?? 'lost',
        spreadBps: BigInt(wordOf(words, 'spread') || 0),
        feeMinor: BigInt(wordOf(words, 'fee') || 0),
      }
      const order = { state: 'paying' as const, providerPayoutId: payout.id, reason: null }
      take(
        { ...base, ...named, ...order, createdAt: new Date(payout.created ?? Date.now()) },
        'ordered at the provider',
      )
    } else take(base, place ? 'taken but not ordered: will be returned' : 'not taken: failed')
  }
  for (const [key, { authorization, hash }] of taken) {
    if (settled.has(key)) continue
    if (world.giveBack.includes(hash)) {
      take(rowOf(world, uuidFor('payout', `lost:${key}`), authorization, hash), 'will be returned')
      continue
    }
    found.undecided.push(
      `${authorization.value} micro-AUSD of ${authorization.from} taken for an unknown cash-out in ${hash}; compare the provider's payouts, then add --give-back ${hash}`,
    )
  }
  return found
}

/**
 * Finds present cash-outs whose return was ordered since the backup. JetStream may deliver the order only now, so that
 * their rows must not be paid. If services ran on the restored rows, a bank may have been paid meanwhile: such an order
 * is dropped.
 */
export async function findReturns({ known, bus, provider }: Pick<World, 'known' | 'bus' | 'provider'>) {
  const found: FoundReturns = { returns: [], dropped: [], lines: [], undecided: [] }
  for (const [id, messageIds] of bus.returns) {
    if (!known.unreturned.has(id)) continue
    const payouts = await provider.payoutsOf(id)
    const alive = payouts.find(({ status }) => !isBack(status))
    // guard: AUSD of a cash-out that a bank was paid for since the backup is not returned after a restore
    if (alive) {
      found.dropped.push({ id, messageIds })
      found.undecided.push(
        `cash-out ${id}: its return was ordered, but the provider has payout ${alive.id}, ${alive.status}; its AUSD is kept unless the return is sent already`,
      )
    } else {
      found.returns.push(id)
      found.lines.push(`cash-out ${id}: its return was ordered since, will be returned and not paid`)
    }
  }
  return found
}

export const keyOf = ({ from, nonce }: Pick<GivenAuthorization, 'from' | 'nonce'>): string =>
  `${from}:${nonce}`.toLowerCase()
const rateFor = (fiatMinor: bigint, ausdMicro: bigint) => (fiatMinor * 1_000_000n) / ausdMicro || 1n

/** Builds a row. A cash-out that was not ordered is returned if it was taken, else it has failed. */
function rowOf(
  { known, bus }: World,
  id: string,
  authorization: SignedTransfer,
  takeTxHash: string | null,
): LostPayout {
  const ausdMicro = BigInt(authorization.value)
  const rate = known.rateMinorPerUsd ?? 1n
  const guessedMinor = (ausdMicro * rate) / 1_000_000n || 1n
  const fiatMinor = bus.takenMinor.get(id) ?? guessedMinor
  return {
    id,
    wallet: authorization.from,
    ausdMicro,
    fiatMinor,
    authorization,
    takeTxHash,
    rateMinorPerUsd: rateFor(fiatMinor, ausdMicro),
    quoteId: `lost:${id}`,
    requestFingerprint: 'lost',
    channelCode: 'lost',
    providerPayoutId: null,
    createdAt: new Date(),
    spreadBps: 0n,
    feeMinor: 0n,
    ...(takeTxHash ? { state: 'returning', reason: 'taken_late' } : { state: 'failed', reason: 'take_failed' }),
  }
}
