import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startChild } from '#infra/local/child'
import { freePort } from '#infra/local/ports'
import { planPostgres, postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import { type LoginRole, loginRoles } from '#infra/migrations/databases'

export { migrateAll } from '#infra/migrations/migrate'

export type ScratchPostgres = AsyncDisposable & {
  readonly adminUrl: string
  readonly passwords: Readonly<Record<LoginRole, string>>
  readonly urlAs: (role: string, password: string) => string
}

/** A real, empty PostgreSQL for one suite, on a free port, in its own folder. */
export async function startScratchPostgres(): Promise<ScratchPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'scratch-postgres-'))
  mkdirSync(join(dir, 'logs'))
  const plan = planPostgres({ dir, port: await freePort(), password: 'admin', durable: false })
  const child = startChild(plan.command)
  await waitUntil('postgres', () => postgresAnswers(plan.adminUrl), 15_000)
  const passwords = Object.fromEntries(loginRoles.map((role) => [role, `it's ${role}`]))
  return {
    adminUrl: plan.adminUrl,
    passwords: passwords as Record<LoginRole, string>,
    urlAs: (role, password) => {
      const url = new URL(plan.adminUrl)
      url.username = role
      url.password = encodeURIComponent(password)
      return url.toString()
    },
    [Symbol.asyncDispose]: async () => {
      await child.end('SIGINT')
      for (const path of [dir, dirname(plan.dataDir)])
        rmSync(path, { recursive: true, force: true })
    },
  }
}
