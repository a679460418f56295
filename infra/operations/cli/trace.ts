import { reading } from '#infra/operations/cli/command'
import { operatorPlace } from '#infra/operations/place'
import { readTrace } from '#infra/operations/timeline/trace'
import { atProvider } from '../timeline/provider'
import { traceText } from '../timeline/text'
import { ofTreasury } from '../timeline/treasury'

export const trace = reading({
  does: 'follow an item through every service, by any of its ids',
  usage:
    'trace <payment, cash-out, quote, transaction, wallet, lane, wallet:nonce, provider id, message, #break> [--json]',
  takes: 1,
  read: async ({ words }, { sql, bus }) => {
    const { provider, treasury } = operatorPlace()
    const others = [atProvider(sql, provider), ofTreasury(sql, treasury)]
    const data = await readTrace({ sql, bus, others }, words[0]!)
    const ok = data.items.length + data.entries.length > 0 && data.unseen.length === 0
    return { text: traceText(data), data, ok }
  },
})
