import { numberedCause } from '#infra/operations/audit-log/numbered-cause'
import { type Performed, perform } from '#infra/operations/audit-log/perform'
import { performHere } from '#infra/operations/audit-log/perform-here'
import { among, type CommandResult, changing, reading } from '#infra/operations/cli/command'
import { RateRelease } from '#infra/operations/cli/local-commands'
import type { Operator } from '#infra/operations/cli/operator'
import { messageAt } from '#infra/operations/timeline/stored-messages'
import { Unavailable } from '#platform/bus/ask'
import { homePair, namedDayStartMs } from '#shared/money/day'
import { pairKey, pairs } from '#shared/money/pair'
import { nothing } from '#shared/operators/may-perform'

/** Names of the pairs as the bucket `rates` has them, such as `usd-idr`. */
const words = pairs.map(pairKey)

/** What the bucket has of a pair. A rate is in units of 10⁻⁸ of the local currency per US dollar. */
type StoredRate = {
  readonly key: string
  readonly source: string
  readonly localE8PerUsd: string
  readonly day: string
}

const bucket = 'KV_rates'
const keyPrefix = '$KV.rates.'
const readMs = 3_000

const show = reading({
  does: 'show the rate in use, the last rate of each source, and the released day of each pair',
  usage: 'rates show [--json]',
  read: async (_, { bus }): Promise<CommandResult> => {
    const { nc } = await bus()
    const manager = await nc.jetstreamManager({ checkAPI: false, timeout: readMs })
    const { state } = await manager.streams.info(bucket, { subjects_filter: `${keyPrefix}>` })
    const keys = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(keyPrefix.length))
    const read = async (key: string) =>
      (await messageAt(manager, bucket, { last_by_subj: `${keyPrefix}${key}` }))?.string() || undefined
    const found = await Promise.all(
      words.map(async (pair) => {
        const ofPair = keys.filter((key) => key.endsWith(`.${pair}`) && !key.startsWith('release.')).sort()
        const values = await Promise.all(ofPair.map(async (key) => ({ key, value: await read(key) })))
        const stored = values.flatMap(({ key, value }): StoredRate[] =>
          value === undefined ? [] : [{ ...(JSON.parse(value) as StoredRate), key }],
        )
        return { pair, rates: stored, released: (await read(`release.${pair}`))?.trim() ?? null }
      }),
    )
    const text = found
      .flatMap(({ pair, rates: stored, released }) => [
        `${pair}: ${released === null ? 'no day is released' : `the rate of ${released} is released`}`,
        ...stored.map(rateLine),
      ])
      .join('\n')
    return { text, data: { rates: found }, ok: true }
  },
})

const rateLine = ({ key, source, localE8PerUsd, day }: StoredRate): string => {
  const digits = localE8PerUsd.padStart(9, '0')
  const rate = `${digits.slice(0, -8)}.${digits.slice(-8)}`.replace(/\.?0+$/, '')
  return `  ${day}  ${rate} by ${source}${key.startsWith('accepted.') ? ', in use' : ''}`
}

function dayFault(day: string): string | undefined {
  if (namedDayStartMs(homePair, day) === undefined) return `${day} is not a day such as 2026-11-20`
  // A released day is not guarded, so a mistyped one would let a later jump pass.
  return new Date(`${day}T00:00:00Z`) > new Date() ? `${day} has not begun: no rate of it can have jumped` : undefined
}

export async function released(
  operator: Pick<Operator, 'sql' | 'bus' | 'signing'>,
  { pair, day }: { pair: string; day: string },
  { reason, by }: { reason: string; by: string },
): Promise<Performed> {
  const named = { verb: 'rates release', target: pair }
  const cause = await numberedCause(operator.sql, named, day)
  const work = async () => {
    const { js } = await operator.bus()
    await js.publish(`${keyPrefix}release.${pair}`, day).catch((cause) => {
      throw new Unavailable('the bucket of rates', { cause })
    })
    return { done: `the rate of ${day} is released; pricing reads it at its next poll` }
  }
  return perform(operator, { ...named, cause, reason, by }, (id) =>
    performHere(operator, RateRelease, { command: id, by, reason, pair, day }, { work, worth: async () => nothing }),
  )
}

const release = changing({
  does: 'release a rate that jumped: pricing quotes the rate of that day',
  usage: `rates release ${words.join('|')} <day> --reason <why> [--by <who>]`,
  takes: 2,
  faultIn: ([pair = '', day = '']) =>
    words.includes(pair) ? dayFault(day) : `unknown pair ${pair}; choose one of ${words.join(', ')}`,
  change: async ({ words: [pair = '', day = ''], reason, by }, operator) => [
    await released(operator, { pair, day }, { reason, by }),
  ],
})

export const rates = among('exchange rates: show, release a jump', { show, release })
