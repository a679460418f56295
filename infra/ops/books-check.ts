import { readChainBooks } from '#infra/ops/books-chain'
import { comparePayments } from '#infra/ops/books-payments'
import { comparePayouts } from '#infra/ops/books-payouts'
import { compareProvider, readProviderBook } from '#infra/ops/books-provider'
import { readRows } from '#infra/ops/books-rows'
import { lasting, type Repeats } from '#infra/ops/difference'
import { auditorDatabaseUrl, operatorPlace, type Place } from '#infra/ops/place'
import { operatorSecrets } from '#infra/ops/stack'
import { runCommand } from '#shared/command'

/**
 * Every difference between what the services wrote down, what the chain did, and what the provider
 * did; empty when the books balance. What is on its way may be in either state, and a difference
 * counts when it lasts: rows and chain cannot be read at the same instant.
 */
export const checkBooks = (
  place: Place,
  databaseUrl: string,
  repeats?: Repeats,
): Promise<string[]> =>
  lasting(async () => {
    const rows = await readRows(databaseUrl)
    const chain = await readChainBooks(place)
    const book = place.sandbox ? await readProviderBook(place.sandbox) : undefined
    return [
      ...comparePayments(rows.payments, chain),
      ...comparePayouts(rows.payouts, chain, place.treasury),
      ...(book ? compareProvider(rows, book) : []),
      // Books that were not compared do not balance.
      ...(place.sandbox && !book ? ['the book of the provider cannot be read'] : []),
    ]
  }, repeats)

if (import.meta.main) {
  await runCommand(operatorSecrets, async (say) => {
    const place = operatorPlace()
    const found = await checkBooks(place, auditorDatabaseUrl())
    if (!place.sandbox) say('there is no sandbox: rows and chain alone were compared')
    say(found.length === 0 ? 'the books balance' : found.join('\n'))
    return found.length === 0 ? 0 : 1
  })
  process.exit()
}
