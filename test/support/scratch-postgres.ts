import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { LoginRole } from '#infra/migrations/databases'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import type { ServiceName } from '#shared/messages/topic'
import { migratedCluster, passwords, runPostgres } from './engines/cluster'
import { onFreePorts } from './engines/free-ports'

export type ScratchPostgres = AsyncDisposable & {
  readonly adminUrl: string
  readonly passwords: Readonly<Record<LoginRole, string>>
  readonly urlAs: (role: string, password: string) => string
}

/** Starts Postgres with all roles and tables, or `empty`. */
export const startScratchPostgres = (what?: 'empty'): Promise<ScratchPostgres> => onFreePorts(() => start(what))

async function start(what?: 'empty'): Promise<ScratchPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'scratch-postgres-'))
  const cluster = what === 'empty' ? undefined : await migratedCluster()
  const { adminUrl, dataDir, child } = await runPostgres(dir, cluster)
  return {
    adminUrl,
    passwords,
    urlAs: (role, password) => {
      const url = new URL(adminUrl)
      url.username = role
      url.password = encodeURIComponent(password)
      return url.toString()
    },
    [Symbol.asyncDispose]: async () => {
      await child.end('SIGINT')
      for (const path of [dir, dirname(dataDir)]) rmSync(path, { recursive: true, force: true })
    },
  }
}

export type ScratchDatabase = AsyncDisposable & { readonly database: Database }

/** Starts Postgres with a service's client as the owner of all tables. */
export async function startScratchDatabase(name: ServiceName): Promise<ScratchDatabase> {
  const server = await startScratchPostgres()
  const log = openLog(name, 'silent')
  const database = openDatabase({ url: server.adminUrl, name: 'suite', log, onFatal: () => {} })
  return {
    database,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}
