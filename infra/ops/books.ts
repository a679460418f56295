import { type OpenItem, readSheet, type Sheet, type SheetLine } from '#infra/books/sheet'
import { breakLine } from '#infra/books/text'
import { reading } from '#infra/ops/verb'
import { type Asset, assets, chart } from '#shared/ledger/chart'
import { amountText } from '#shared/money/text'
import { counted } from '#shared/trace/words'

/** The balance sheet: reads, and changes nothing. */
export const books = reading({
  does: 'where every unit is: the balance sheet, and what is open',
  usage: 'books [--json]',
  read: async (_, { sql }) => {
    const sheet = await readSheet(sql)
    const ok = sheet.breaks.every(({ standing }) => standing !== 'counts')
    return { text: sheetText(sheet), data: sheet, ok }
  },
})

/** Asset by asset, what each account holds; then what is open; and in the end whether anything is. */
export function sheetText(sheet: Sheet): string {
  const { lines, items, breaks } = sheet
  const shown = assets.filter((asset) => lines.some((line) => line.asset === asset))
  return [
    ...shown.flatMap((asset) => [
      ...assetText(
        asset,
        lines.filter((line) => line.asset === asset),
      ),
      '',
    ]),
    ...(items.length > 0 ? ['open, item by item'] : []),
    ...items.map((one) => `  ${itemLine(one)}`),
    ...(breaks.length > 0 ? ['what does not agree'] : []),
    ...breaks.map((one) => `  ${breakLine(one)}`),
    ending(sheet),
  ].join('\n')
}

/** What a wallet owes for money that was taken back is open, though nothing of it is on its way. */
function ending({ items, breaks, closed }: Sheet): string {
  if (!closed)
    return `the books are open: ${counted(items.length, 'item')}, ${counted(breaks.length, 'break')}`
  return items.length === 0
    ? 'the books are closed: nothing is on its way, and nothing differs'
    : `nothing is on its way, and nothing differs: ${counted(items.length, 'item')} owed`
}

/** Money of an item that is on its way, or waits for somebody. */
export const itemLine = ({ item, account, asset, amount }: OpenItem): string =>
  `${account.padEnd(12)} ${amountText(amount, asset).padStart(24)} ${asset}  ${item}`

function assetText(asset: Asset, lines: readonly SheetLine[]): string[] {
  const total = lines.reduce((sum, { balance }) => sum + balance, 0n)
  return [
    asset,
    ...lines.map(({ account, balance, outside }) => {
      const beside =
        outside === undefined
          ? ''
          : `  outside ${amountText(outside, asset)}, difference ${amountText(outside - balance, asset)}`
      const side = chart[account].side.padEnd(9)
      return `  ${side} ${account.padEnd(16)} ${amountText(balance, asset).padStart(28)}${beside}`
    }),
    `  comes to ${amountText(total, asset).padStart(46)}`,
  ]
}
