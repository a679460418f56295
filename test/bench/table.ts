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

export function tableOf(figures: readonly Figure[]): string {
  const rows = [head, ...figures.map(cellsOf)]
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const isNumber = (column: number) => column === 2 || column === 3
  return rows
    .map((row) =>
      row
        .map((cell, column) => (isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
