import { join } from 'node:path'
import postgres from 'postgres'
import { bundleOf, currentBundles } from '#infra/bundle/bundle'
import { localChainId } from '#infra/local/chain'
import { startChild } from '#infra/local/child'
import { environments } from '#infra/local/environment'
import { waitUntil } from '#infra/local/wait'
import { migrateAll } from '#infra/migrations/migrate'
import { liftedLimits } from '#test/support/settings'
import { peakMemoryMb } from '../memory/process-memory'
import type { Ground } from './ground'
import { type Totals, totalsQuery } from './projection'

export type Run = {
  readonly tookMs: number
  readonly peakMb: number
  readonly totals: Totals
}

const deadlineMs = 30 * 60_000

export async function runReader(ground: Ground): Promise<Run> {
  const adminUrl = await ground.freshDatabase('reader')
  await migrateAll({ adminUrl, passwords: ground.secrets.databaseRoles })
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  const bundles = await currentBundles()
  const startedAt = performance.now()
  const child = startChild({
    name: 'indexer-reader',
    bin: process.execPath,
    args: [bundleOf(bundles, 'indexer-reader')],
    env: environmentOf(ground, adminUrl),
    logFile: join(ground.dir, 'logs/indexer-reader.log'),
  })
  try {
    const served = () => sql`
      select sequence::int as events from indexer_reader.cursors where state = 'serving'`
    const [cursor] = await waitUntil(
      'the reader to serve',
      async () => {
        const rows = await served()
        return rows.length > 0 && rows
      },
      deadlineMs,
      20,
    )
    const tookMs = performance.now() - startedAt
    if (cursor!.events !== ground.chain.events)
      throw new Error(`the reader has ${cursor!.events} events instead of ${ground.chain.events}`)
    const { records, cycles } = {
      records: 'indexer_reader.records',
      cycles: 'indexer_reader.cycles',
    }
    const [totals] = await sql.unsafe<Totals[]>(totalsQuery(records, 'drawn_micro', cycles))
    return { tookMs, peakMb: peakMemoryMb(child.pid), totals: totals! }
  } finally {
    await child.end()
    await sql.end()
  }
}

function environmentOf(ground: Ground, adminUrl: string): Record<string, string> {
  const { host, pathname } = new URL(adminUrl)
  const places = {
    gatewayPort: 0,
    gateway: '',
    sandbox: '',
    opsPort: 0,
    sandboxPort: 0,
    natsUrl: ground.natsUrl,
    database: { host, name: pathname.slice(1) },
    rpcUrl: ground.chain.rpcUrl,
    chainId: localChainId,
    deployment: ground.chain.deployment,
    bookPath: '',
  }
  return {
    ...environments(places, ground.secrets)['indexer-reader'],
    ...liftedLimits['indexer-reader'],
    END_WITH_STDIN: '1',
  }
}
