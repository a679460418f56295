import type { ChainBooks, Move } from '#infra/ops/books-chain'
import { countDiffers } from '#infra/ops/books-payments'
import type { PayoutRow } from '#infra/ops/books-rows'
import { refOf } from '#shared/chain/ref'

/** What the chain must have done for a payout in a state. */
const due = new Map([
  ['taking', { take: 'maybe', back: 'none' }],
  ['failed', { take: 'none', back: 'none' }],
  ['taken', { take: 'one', back: 'none' }],
  ['paying', { take: 'one', back: 'none' }],
  ['paid', { take: 'one', back: 'none' }],
  ['returning', { take: 'one', back: 'maybe' }],
  ['returned', { take: 'one', back: 'one' }],
] as const)

/** Payouts' rows and the treasury's transfers against each other, in both directions. Pure. */
export function comparePayouts(
  rows: readonly PayoutRow[],
  { moves }: Pick<ChainBooks, 'moves'>,
  treasury: string,
): string[] {
  const own = treasury.toLowerCase()
  const takeKeys = new Set(rows.map(({ takeKey }) => takeKey))
  const unasked = moves.filter(
    ({ to, from, nonce }) => to === own && !takeKeys.has(`${from}:${nonce}`),
  )
  const undone = new Set(unasked.flatMap((move) => givenBack(move, moves, own)))
  const left = moves.filter((move) => !undone.has(move))
  const takes = left.filter(({ to, nonce }) => to === own && nonce)
  const backs = left.filter(({ from }) => from === own)
  const takesOf = Map.groupBy(takes, ({ from, nonce }) => `${from}:${nonce}`)
  const backsOf = Map.groupBy(backs, ({ nonce }) => nonce ?? 'plain')
  const backNonces = new Set<string>(rows.map(({ returnNonce }) => returnNonce))
  return [
    ...rows.flatMap((row) =>
      compareOne(row, takesOf.get(row.takeKey) ?? [], backsOf.get(row.returnNonce) ?? []),
    ),
    ...takes
      .filter(({ from, nonce }) => !takeKeys.has(`${from}:${nonce}`))
      .map((move) => `${moveText(move)} was signed for the treasury, but no payout names it`),
    ...backs
      .filter(({ nonce }) => !nonce || !backNonces.has(nonce))
      .map((move) => `${moveText(move)} left the treasury for no payout`),
  ]
}

/** What came without a payout and went back to its sender, both; none when it did not. */
function givenBack(came: Move, moves: readonly Move[], own: string): Move[] {
  const nonce = refOf(`giveback:${came.txHash}:${came.logIndex}`)
  const back = moves.find((one) => one.from === own && one.nonce === nonce)
  return back?.to === came.from && back.ausdMicro === came.ausdMicro ? [came, back] : []
}

function compareOne(row: PayoutRow, takes: readonly Move[], backs: readonly Move[]): string[] {
  const name = `payout ${row.id} (${row.state})`
  const want = due.get(row.state as 'taking')
  if (!want) return [`${name} is in a state this check does not know`]
  return [
    ...countDiffers(want.take, takes.length, `${name}: take`),
    ...countDiffers(want.back, backs.length, `${name}: return`),
    ...takes
      .filter(({ ausdMicro }) => ausdMicro !== row.ausdMicro)
      .map((move) => `${name} took ${row.ausdMicro}, but the chain has ${moveText(move)}`),
    ...backs
      .filter(({ ausdMicro, to }) => ausdMicro !== row.ausdMicro || to !== row.wallet)
      .map((move) => `${name} owes ${row.ausdMicro} to ${row.wallet}, but ${moveText(move)}`),
  ]
}

const moveText = ({ from, to, ausdMicro, txHash }: Move) =>
  `${ausdMicro} micro AUSD from ${from} to ${to} in ${txHash}`
