import { expect, test } from 'bun:test'
import { urlInRole } from '#platform/db/url'
import { within } from '#platform/deadline'
import { openLog } from '#platform/log'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import { booksVital, connectBooks } from './context'

test('the probe of the books answers while a comparison and a verification of seals run', async () => {
  await using server = await startScratchPostgres()
  const databaseUrl = urlInRole(server.urlAs('operations', server.passwords.operations), 'books')
  const log = openLog('operations', 'silent')
  await using books = connectBooks({ databaseUrl, place: {} as never, log, onFatal: () => {} })
  const ended = Promise.withResolvers<void>()
  const begun = [1, 2].map(() => Promise.withResolvers<void>())
  const long = begun.map(({ resolve }) =>
    books.sql.begin(async (tx) => {
      await tx`select from payments.journal`
      resolve()
      await ended.promise
    }),
  )
  await Promise.all(begun.map(({ promise }) => promise))
  const asked = within(booksVital(books).ask(), 2_000, 'Postgres').then(
    () => 'answered',
    (error: Error) => error.message,
  )
  expect(await asked).toBe('answered')
  ended.resolve()
  await Promise.all(long)
})
