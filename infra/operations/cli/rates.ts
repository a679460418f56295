import { perform } from '#infra/operations/audit-log/perform'
import { performHere } from '#infra/operations/audit-log/perform-here'
import { among, changing } from '#infra/operations/cli/command'
import { RateRelease } from '#infra/operations/cli/local-commands'
import { Unavailable } from '#platform/bus/ask'
import { pairs } from '#shared/money/pair'
import { nothing } from '#shared/operators/may-perform'

/** Names of the pairs as the bucket `rates` has them, such as `usd-idr`. */
const words = pairs.map((pair) => pair.toLowerCase().replace('/', '-'))

function dayFault(day: string): string | undefined {
  const at = Date.parse(`${day}T00:00:00Z`)
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(at) && new Date(at).toISOString().startsWith(day)
  if (!isDay) return `${day} is not a day such as 2026-11-20`
  // A released day is not guarded, so a mistyped one would let a later jump pass.
  return new Date(at) > new Date() ? `${day} has not begun: no rate of it can have jumped` : undefined
}

const release = changing({
  does: 'release a rate that jumped: pricing quotes the rate of that day',
  usage: `rates release ${words.join('|')} <day> --reason <why> [--by <who>]`,
  takes: 2,
  faultIn: ([pair = '', day = '']) =>
    words.includes(pair) ? dayFault(day) : `unknown pair ${pair}; choose one of ${words.join(', ')}`,
  change: async ({ words: [pair = '', day = ''], reason, by }, operator) => {
    const command = { verb: 'rates release', target: pair, cause: day, reason, by }
    const work = async () => {
      const { js } = await operator.bus()
      await js.publish(`$KV.rates.release.${pair}`, day).catch((cause) => {
        throw new Unavailable('the bucket of rates', { cause })
      })
      return { done: `the rate of ${day} is released; pricing reads it at its next poll` }
    }
    return [
      await perform(operator, command, (id) =>
        performHere(
          operator,
          RateRelease,
          { command: id, by, reason, pair, day },
          { work, worth: async () => nothing },
        ),
      ),
    ]
  },
})

export const rates = among('rates: release a jump', { release })
