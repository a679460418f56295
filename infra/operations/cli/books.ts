import {
  type DayResult,
  type OpenItem,
  readSheet,
  type Sheet,
  type SheetLine,
} from '#infra/operations/books/balance-sheet'
import { type Unsealed, type Verified, verifySeals } from '#infra/operations/books/seal'
import { ageText, breakLine } from '#infra/operations/books/text'
import { reading, type Verb } from '#infra/operations/cli/command'
import { counted } from '#infra/operations/text'
import { type Asset, assets, chart } from '#shared/ledger/chart'
import { amountText } from '#shared/money/text'

const sheet = reading({
  does: 'show the balance sheet, open items, and what the payments of a day cost; verify: compute the seals of the journals again',
  usage: 'books [verify] [--json]',
  read: async (_, { sql }) => {
    const read = await readSheet(sql)
    const ok = read.breaks.every(({ standing }) => standing !== 'counts')
    return { text: sheetText(read), data: read, ok }
  },
})

const verify = reading({
  does: 'compute every seal of the journals again, and name the first that differs',
  usage: 'books verify [--json]',
  read: async (_, { sql }) => {
    const journals = await verifySeals(sql)
    const ok = journals.every(({ differs, unsealed }) => !differs && !unsealed.isOverdue)
    return { text: journals.map(verifiedText).join('\n'), data: { journals }, ok }
  },
})

export function verifiedText({ journal, seals, lines, head, differs, unsealed }: Verified): string {
  const name = journal.padEnd(14)
  const waits = waitText(unsealed)
  if (seals === 0) return `${name} nothing is sealed yet: ${waits ?? 'nothing is booked'}`
  const more = waits ? `; ${waits}` : ''
  if (!differs) return `${name} ${counted(seals, 'seal')} of ${counted(lines, 'line')} fit, the last is ${head}${more}`
  const { number, sealed, found } = differs
  return `${name} seal ${number} of ${seals} differs: ${counted(sealed, 'line')} sealed, ${found} found. Earlier seals fit${more}`
}

function waitText({ lines, since, isOverdue }: Unsealed): string | undefined {
  if (since === null) return undefined
  const text = `${counted(lines, 'newer line')} since ${since.toISOString()}`
  return isOverdue
    ? `${text} should be sealed: operations does not run, or a transaction has stayed open since`
    : `${text}, which operations seals every ten minutes`
}

export const books: Verb = {
  does: sheet.does,
  run: (words, say) => (words[0] === 'verify' ? verify.run(words.slice(1), say) : sheet.run(words, say)),
}

export function sheetText(sheet: Sheet): string {
  const { lines, items, breaks, day } = sheet
  const shown = assets.filter((asset) => lines.some((line) => line.asset === asset))
  return [
    ...shown.flatMap((asset) => [
      ...assetText(
        asset,
        lines.filter((line) => line.asset === asset),
      ),
      '',
    ]),
    ...(day.length > 0
      ? ['spread, fees of users and fees of the provider in the last 24 hours', ...day.map(dayLine), '']
      : []),
    ...(items.length > 0 ? ['open items'] : []),
    ...items.map((one) => `  ${itemLine(one)}`),
    ...(breaks.length > 0 ? ['breaks'] : []),
    ...breaks.map((one) => `  ${breakLine(one)}`),
    ending(sheet),
  ].join('\n')
}

/**
 * Returns the last line of the sheet. A wallet's debt for a reversed payment is an open item, although nothing is in
 * progress.
 */
function ending({ items, breaks, closed }: Sheet): string {
  if (!closed) return `the books are open: ${counted(items.length, 'item')}, ${counted(breaks.length, 'break')}`
  return items.length === 0
    ? 'the books are closed: nothing in progress, no breaks'
    : `nothing in progress, no breaks; ${counted(items.length, 'item')} owed`
}

/**
 * Returns what the payments of a day cost against the spread and the users' fees that they earned. The provider's fees are
 * booked when it reports them.
 */
export function dayLine({ asset, earned, feesEarned, fees, transactions }: DayResult): string {
  const users = feesEarned === 0n ? '' : ` and ${amountText(feesEarned, asset)} of fees`
  const each = transactions === 0 ? '' : `, ${amountText(fees / BigInt(transactions), asset)} for each`
  return `  ${asset.padEnd(4)} earned ${amountText(earned, asset)}${users}, fees ${amountText(fees, asset)} for ${counted(transactions, 'transaction')}${each}`
}

export const itemLine = ({ item, account, asset, amount }: OpenItem): string =>
  `${account.padEnd(12)} ${amountText(amount, asset).padStart(24)} ${asset}  ${item}`

function assetText(asset: Asset, lines: readonly SheetLine[]): string[] {
  const total = lines.reduce((sum, { balance }) => sum + balance, 0n)
  return [
    asset,
    ...lines.map(({ account, balance, outside, outsideAgeMs = 0 }) => {
      const other =
        outside === undefined
          ? ''
          : `  external ${amountText(outside, asset)}, read ${ageText(outsideAgeMs)} ago, difference ${amountText(outside - balance, asset)}`
      const side = chart[account].side.padEnd(9)
      return `  ${side} ${account.padEnd(16)} ${amountText(balance, asset).padStart(28)}${other}`
    }),
    `  total    ${amountText(total, asset).padStart(46)}`,
  ]
}
