import { quantile } from '../bench/quantile'
import type { Verdict } from './evidence'
import type { Options } from './options'
import type { Record } from './record'
import type { Happened } from './trouble'

export type Report = {
  readonly options: Options
  readonly record: Record
  readonly happened: readonly Happened[]
  readonly verdict: Verdict
  /** Time in ms from the end of the last fault until nothing was pending. */
  readonly quietMs: number
  /** The last completed items, with ms since the last fault. */
  readonly last: readonly { readonly words: string; readonly afterMs: number }[]
  /** Number of secrets, and of characters searched for them by kind of place. */
  readonly searched: Readonly<{ [kind: string]: number }>
}

const linesMax = 40

export function reportText(report: Report): string {
  const { options, record, happened, verdict, quietMs, last, searched } = report
  const kinds = Map.groupBy(happened, ({ kind }) => kind)
  const recoveries = (kind: string) =>
    (kinds.get(kind as Happened['kind']) ?? []).flatMap(({ recoveredMs }) =>
      recoveredMs === null ? [] : [recoveredMs],
    )
  const row = (cells: readonly (string | number)[]) => `  ${cells.join('  ')}`
  const faults = [...kinds].map(([kind, all]) => {
    const tookMs = recoveries(kind)
    const recovered =
      tookMs.length === 0 ? '' : `ready after p50 ${quantile(tookMs, 0.5)} ms, p99 ${quantile(tookMs, 0.99)} ms`
    return row([kind.padEnd(9), String(all.length).padStart(5), recovered])
  })
  const all = (words: readonly string[]) => [
    ...words.slice(0, linesMax).map((one) => row([one])),
    ...(words.length > linesMax ? [row([`and ${words.length - linesMax} more`])] : []),
  ]
  /** Names the faults of the minute before a finding that lasted, with their ends. */
  const during = (atMs: number) =>
    happened
      .filter((one) => one.lastedMs > 5_000 && one.atMs < atMs && one.atMs + one.lastedMs > atMs - 60_000)
      .map((one) => `${one.name} (${clock(one.atMs)} to ${clock(one.atMs + one.lastedMs)})`)
      .join(', ')
  const { minutes, people, seed, upgradeFrom } = options
  return [
    `seed ${seed}, ${minutes} min, ${people} users${upgradeFrom ? `, upgraded from ${upgradeFrom}` : ''}`,
    `${record.deeds.length} flows started`,
    ...Object.entries(verdict.counted).map(([what, count]) => row([what.padEnd(26), count])),
    'responses',
    ...[...record.answers]
      .sort(([, left], [, right]) => right - left)
      .map(([answer, count]) => row([answer.padEnd(26), count])),
    `${happened.length} faults`,
    ...faults,
    `nothing pending ${(quietMs / 1_000).toFixed(1)} s after the last fault`,
    ...last.map(({ words, afterMs }) => row([`${(afterMs / 1_000).toFixed(1)} s`, words])),
    `treasury: ${verdict.treasuryMovedMicro} moved, ${verdict.treasuryExplainedMicro} belong to an item (10⁻⁶ AUSD)`,
    `${verdict.waiting.length} in manual review`,
    ...all(verdict.waiting.map(({ words }) => words)),
    `searched for ${searched.secrets} secrets and personal data: ${searchedText(searched)}`,
    `${verdict.findings.length} found: lost, doubled, free while in doubt, without a deadline, leaked or unexplained`,
    ...all(verdict.findings),
    ...all(
      verdict.moments.map(({ finding, atMs }) => `${finding.split(' ')[0]} at ${clock(atMs)}, after ${during(atMs)}`),
    ),
  ].join('\n')
}

/** Writes the time of day (UTC) as the services' logs do: `22:41:07`. */
const clock = (atMs: number): string => new Date(atMs).toISOString().slice(11, 19)

const searchedText = (searched: Report['searched']): string =>
  Object.entries(searched)
    .filter(([kind]) => kind !== 'secrets')
    .map(([kind, characters]) => `${kind} ${characters} characters`)
    .join(', ')
