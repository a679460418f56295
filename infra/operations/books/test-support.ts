import postgres from 'postgres'
import type { ProviderPlace } from '#infra/operations/restore/provider'
import { urlInRole } from '#platform/db/url'
import { openLog } from '#platform/log'
import { actors, openContractsFixture } from '#test/support/contracts'
import { startScratchPostgres } from '#test/support/scratch-postgres'
import type { BooksContext } from './context'
import { connectBooks } from './context'

/** Books on a chain whose blocks are final two blocks later. No service runs. */
export type BooksFixture = Awaited<ReturnType<typeof openBooksFixture>>

export async function openBooksFixture(provider?: ProviderPlace) {
  const [server, chain] = await Promise.all([
    startScratchPostgres(),
    openContractsFixture({}, ['--slots-in-an-epoch', '1']),
  ])
  const { adminUrl, passwords } = server
  const admin = postgres(adminUrl, { max: 2, onnotice: () => {} })
  const { ausd, creditLine } = chain.deployment
  const place = {
    rpcUrls: [chain.client.transport.url!],
    ausd,
    creditLine,
    treasury: actors.treasury.address,
    deployBlock: 0n,
    logsRangeMax: 100n,
    provider,
  }
  const now = { aheadMs: 0 }
  const databaseUrl = urlInRole(server.urlAs('operations', passwords.operations), 'books')
  const opened: AsyncDisposable[] = []
  /** Opens an instance of the job on the shared database. */
  const copy = (change: Partial<BooksContext> = {}): BooksContext => {
    const log = openLog('operator', 'silent')
    const made = connectBooks({ databaseUrl, place, log, onFatal: () => {} })
    opened.push(made)
    return { ...made, clock: () => Date.now() + now.aheadMs, ...change }
  }
  return {
    chain,
    place,
    databaseUrl,
    admin,
    now,
    copy,
    finalize: () => chain.client.mine({ blocks: 3 }),
    close: async () => {
      for (const one of opened) await one[Symbol.asyncDispose]()
      await admin.end({ timeout: 2 })
      await chain.close()
      await server[Symbol.asyncDispose]()
    },
  }
}
