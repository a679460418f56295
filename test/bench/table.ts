import { aimText, type Figure, figureText } from './figure'

const head = ['bench', 'figure', 'value', 'ratio', 'to', 'aim', 'note']

function cellsOf(figure: Figure): string[] {
  const value = figure.value === null ? 'not available' : figureText(figure.value)
  return [
    figure.bench,
    figure.name,
    figure.value === null ? value : `${value} ${figure.unit}`.trim(),
    figure.ratio ? figureText(figure.ratio.value) : '',
    figure.ratio?.to ?? '',
    aimText(figure),
    figure.note ?? '',
  ]
}

/** Formats figures as a Markdown table with aligned columns, readable in a terminal too. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = [head, ...figures.map(cellsOf)].map((row) =>
    row.map((cell) => cell.replaceAll('|', '\\|')),
  )
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length), 3))
  const isNumber = (column: number) => column === 2 || column === 3
  const lineOf = (row: readonly string[]) =>
    `| ${row
      .map((cell, column) =>
        isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join(' | ')} |`
  const rule = `| ${widths
    .map((width, column) => (isNumber(column) ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)))
    .join(' | ')} |`
  return [lineOf(rows[0]!), rule, ...rows.slice(1).map(lineOf)].join('\n')
}
