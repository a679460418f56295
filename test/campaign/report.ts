import { quantile } from '../bench/quantile'
import type { CampaignVerdict } from './evidence'
import type { Leaks } from './leaks'
import type { Announced } from './messages'
import type { Options } from './options'
import type { Record } from './record'
import type { Happened } from './trouble'

export type Report = {
  readonly options: Options
  readonly record: Record
  readonly happened: readonly Happened[]
  readonly verdict: CampaignVerdict
  /** Time in ms from the end of the last fault until nothing was pending. */
  readonly quietMs: number
  /** The last completed items, with ms since the last fault. */
  readonly last: readonly { readonly words: string; readonly afterMs: number }[]
  readonly breaks: readonly string[]
  readonly announced: Announced
  readonly leaks: Leaks
}

const linesMax = 40

export function reportText(report: Report): string {
  const { options, record, happened, verdict, quietMs, last, breaks, announced, leaks } = report
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
    `the services' own books: ${breaks.length === 0 ? 'balanced' : `${breaks.length} differences`}`,
    ...all(breaks),
    `${announced.noted} messages marked published, ${announced.missing.length} of them in no stream`,
    ...all(announced.missing),
    `searched for ${leaks.searched.secrets} secrets and personal data: ${searchedText(leaks)}`,
    ...all(leaks.found),
    `${verdict.findings.length} lost, doubled or unexplained`,
    ...all(verdict.findings),
  ].join('\n')
}

export const findingsOf = ({ verdict, breaks, announced, leaks }: Report): number =>
  [verdict.findings, breaks, announced.missing, leaks.found].flat().length

const searchedText = ({ searched, found }: Leaks): string =>
  [
    ...Object.entries(searched)
      .filter(([kind]) => kind !== 'secrets')
      .map(([kind, characters]) => `${kind} ${characters} characters`),
    `${found.length} leaks`,
  ].join(', ')
