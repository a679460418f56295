import type { ChainBooks, Effect } from '#infra/ops/books-chain'
import type { PaymentRow } from '#infra/ops/books-rows'

type Due = 'none' | 'maybe' | 'one'
/** What the chain must have done for a payment in a state; a state not listed here: `unknown`. */
const due: ReadonlyMap<string, { effect: Due; revoke: Due }> = new Map([
  ['opening', { effect: 'none', revoke: 'none' }],
  ['awaiting_payment', { effect: 'none', revoke: 'none' }],
  ['expired', { effect: 'none', revoke: 'none' }],
  ['replaced', { effect: 'none', revoke: 'none' }],
  ['refunded', { effect: 'none', revoke: 'none' }],
  ['paid', { effect: 'maybe', revoke: 'none' }],
  ['held', { effect: 'one', revoke: 'none' }],
  ['credited', { effect: 'one', revoke: 'none' }],
  ['repaid', { effect: 'one', revoke: 'none' }],
  ['revoking', { effect: 'maybe', revoke: 'maybe' }],
  ['revoked', { effect: 'one', revoke: 'one' }],
  ['review', { effect: 'maybe', revoke: 'maybe' }],
])

/** What became of a payment whose remainder was applied under the next ref. */
const takenBack = { effect: 'one', revoke: 'one' } as const

/** Payments' rows and the credit line's refs against each other, in both directions. Pure. */
export function comparePayments(rows: readonly PaymentRow[], chain: ChainBooks): string[] {
  const byRef = Map.groupBy(chain.effects, ({ ref }) => ref)
  const known = new Set(rows.flatMap(({ refs }) => refs))
  const unknown = chain.effects.filter(({ ref }) => !known.has(ref))
  return [
    ...rows.flatMap((row) =>
      row.refs.flatMap((ref, part) => comparePart(row, part, byRef.get(ref) ?? [])),
    ),
    ...unknown.map(
      (effect) => `${effectText(effect)} under ref ${effect.ref} belongs to no payment`,
    ),
    ...compareTreasury(chain),
  ]
}

/** One ref of a payment. All but the last were taken back; the last is what the row says it is. */
function comparePart(row: PaymentRow, part: number, effects: readonly Effect[]): string[] {
  const live = part === row.refs.length - 1
  const name = `payment ${row.id}${part === 0 ? '' : `.${part}`} (${row.kind}, ${row.state})`
  const want = live ? wantOf(row) : takenBack
  if (!want) return [`${name} is in a state this check does not know`]
  const given = effects.filter(({ what }) => what !== 'revoke')
  const revokes = effects.filter(({ what }) => what === 'revoke')
  const wrong = [
    ...countDiffers(want.effect, times(row, given), `${name}: ${row.kind} effect`),
    ...countDiffers(want.revoke, revokes.length, `${name}: revocation`),
    ...effects
      .filter(({ wallet }) => wallet !== row.wallet)
      .map((effect) => `${name} is of ${row.wallet}, but the chain has ${effectText(effect)}`),
  ]
  const sumOf = (some: readonly Effect[]) =>
    some.reduce((sum, { ausdMicro }) => sum + ausdMicro, 0n)
  // Once it is revoked nothing of it is there; a row from before that was noted names what was.
  const leftMicro = sumOf(given) - sumOf(revokes)
  const isWhatIsLeft = row.liveMicro === leftMicro || (leftMicro === 0n && row.state === 'revoked')
  if (live && given.length > 0 && !isWhatIsLeft && row.state !== 'revoking')
    wrong.push(`${name} is ${row.liveMicro} micro AUSD, the chain has ${leftMicro}`)
  if (live && row.liveMicro !== row.promisedMicro)
    wrong.push(`${name} is ${row.liveMicro} micro AUSD, but ${row.promisedMicro} were promised`)
  if (
    given.some(({ what, held }) => (what === 'repay' && row.kind === 'topup') || held !== row.held)
  )
    wrong.push(`${name}: held is ${row.held}, but the chain has ${given.map(effectText)}`)
  return wrong
}

/** Nothing is on the chain of a payment that made good an earlier one to the last unit. */
const wantOf = ({ state, liveMicro }: PaymentRow) =>
  state === 'credited' && liveMicro === 0n
    ? ({ effect: 'none', revoke: 'none' } as const)
    : due.get(state)

/** A settlement repays, and what exceeds the debt becomes collateral: two events are one effect. */
function times(row: PaymentRow, given: readonly Effect[]): number {
  if (row.kind === 'topup') return given.length
  const credits = given.filter(({ what }) => what === 'credit').length
  return Math.max(credits, given.length - credits)
}

export function countDiffers(want: Due, has: number, name: string): string[] {
  const fits = want === 'one' ? has === 1 : has <= (want === 'maybe' ? 1 : 0)
  const words = { none: 'none', maybe: 'at most one', one: 'exactly one' }
  return fits ? [] : [`${name}: ${words[want]} expected, the chain has ${has}`]
}

/** Whatever the line got from the treasury, or gave back, must have a ref. */
function compareTreasury({ effects, toLineMicro, fromLineMicro }: ChainBooks): string[] {
  const sum = (some: readonly Effect[]) =>
    some.reduce((total, { ausdMicro }) => total + ausdMicro, 0n)
  const named = sum(effects.filter(({ what }) => what !== 'revoke'))
  const revoked = sum(effects.filter(({ what }) => what === 'revoke'))
  return [
    ...(named === toLineMicro
      ? []
      : [`the treasury gave the credit line ${toLineMicro} micro AUSD, the refs name ${named}`]),
    ...(revoked === fromLineMicro
      ? []
      : [`the treasury got back ${fromLineMicro} micro AUSD, revocations name ${revoked}`]),
  ]
}

const effectText = ({ what, ausdMicro, wallet, held, txHash }: Effect) =>
  `a ${held ? 'held ' : ''}${what} of ${ausdMicro} micro AUSD for ${wallet} in ${txHash}`
