import { ordersOf, type Race, type Report } from './race'

export function linesOf({ name }: Race, report: Report): string[] {
  const { orders, statements, waited, outcomes, wrong, isWhole } = report
  const count = (many: number | bigint) => many.toLocaleString('en')
  const extent = isWhole ? 'all' : 'not all,'
  return [
    `\n${name}`,
    `  ${statements.join(' and ')} statements: ${extent} ${count(orders)} orders (without locks ${count(ordersOf(statements))}), in ${count(waited)} of them one waits for the other`,
    ...[...outcomes].map(([outcome, many]) => `  ${count(many).padStart(8)}  ${outcome}`),
    ...(wrong.length === 0 ? [] : [`  WRONG in ${count(wrong.length)}: ${wrong[0]}`]),
  ]
}
