import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'
import { type Guard, ordersOf, type Race, type Report, runRace } from './race'

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

/** Returns the first fault without a guard, or undefined if no order that ran broke a rule. */
export async function withoutGuard(
  server: ScratchPostgres,
  race: Race,
  guard: Guard,
  sample: number,
): Promise<string | undefined> {
  const extent = { sample, guard, untilWrong: true }
  if (!guard.drop) return (await runRace(server, race, extent)).wrong[0]
  // The database is its own, because other races need the dropped key.
  await using own = await startScratchPostgres()
  return (await runRace(own, race, extent)).wrong[0]
}
