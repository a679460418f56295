import type { Sql } from 'postgres'
import { answerMs, findChannels, type ItemCriteria, type ItemSources } from '#infra/operations/timeline/items'
import { PayoutsTerms } from '#shared/messages/payouts'
import { knownChannels } from '../../../services/payments/providers/xendit/channel'

/** Reads the codes of the banks that cash-outs can go to. Returns undefined if payouts or its provider cannot tell. */
export async function readBanks({ ask }: ItemSources): Promise<readonly string[] | undefined> {
  try {
    const answer = await (await ask!())(PayoutsTerms, {}, answerMs)
    return 'refused' in answer ? undefined : answer.ok.banks.map(({ code }) => code)
  } catch {
    return undefined
  }
}

const isBankCode = (channel: string) => channel.startsWith('ID_')

/**
 * Returns what is wrong with the channel of a search that found nothing, or undefined. Channels are codes of the provider,
 * which adds new ones, so a channel of an item is known too. A bank may exist as long as the banks cannot be read.
 */
export async function channelFault(
  sql: Sql,
  criteria: ItemCriteria,
  banksNow: () => Promise<readonly string[] | undefined>,
): Promise<string | undefined> {
  const { channel } = criteria
  if (channel === undefined || knownChannels.includes(channel)) return undefined
  const [used, banks] = [await findChannels(sql, criteria), await banksNow()]
  const known = [...new Set([...knownChannels, ...used, ...(banks ?? [])])].sort()
  if (known.includes(channel) || (banks === undefined && isBankCode(channel))) return undefined
  const alike = known.filter((one) => one.includes(channel))
  return `unknown channel ${channel}; choose one of ${(alike.length > 0 ? alike : known).join(', ')}`
}
