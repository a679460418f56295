import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { postgresAnswers } from '#infra/local/postgres'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'

export type BaseBackup = Disposable & {
  readonly takenAt: Date
  readonly dataDir: string
  readonly copied: string
}

/**
 * Copies a folder with owners and modes, which the server requires. Files of a running server may vanish in the
 * meantime.
 */
export async function copy(from: string, to: string, isRunning = false): Promise<void> {
  const env = { ...process.env, LC_ALL: 'C' }
  const run = Bun.spawn(['cp', '-a', from, to], { stdout: 'ignore', stderr: 'pipe', env })
  const said = await new Response(run.stderr).text()
  if ((await run.exited) === 0 || (isRunning && hasOnlyVanished(said, from))) return
  throw new Error(`cannot copy ${from} to ${to}: ${said}`)
}

export const hasOnlyVanished = (said: string, from: string): boolean =>
  said !== '' &&
  said
    .trimEnd()
    .split('\n')
    .every((line) => line.includes(` '${from}/`) && line.endsWith(': No such file or directory'))

/**
 * Takes a backup as `pg_basebackup` does:
 * https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-LOWLEVEL-BASE-BACKUP
 */
export async function takeBaseBackup({ adminUrl }: Pick<Stack, 'adminUrl'>): Promise<BaseBackup> {
  const dir = mkdtempSync(join(tmpdir(), 'base-backup-'))
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    const [{ dir: dataDir }] = await sql<[{ dir: string }]>`
      select current_setting('data_directory') as dir`
    const [{ now: takenAt }] = await sql<[{ now: Date }]>`select now()`
    await sql`select pg_backup_start('base backup', true)`
    await copy(dataDir, join(dir, 'data'), true)
    const [{ labelfile }] = await sql<[{ labelfile: string }]>`
      select labelfile from pg_backup_stop(false)`
    const copied = join(dir, 'data')
    rmSync(join(copied, 'pg_wal'), { recursive: true })
    await copy(join(dataDir, 'pg_wal'), copied, true)
    for (const name of ['postmaster.pid', 'postmaster.opts']) rmSync(join(copied, name), { force: true })
    const label = join(copied, 'backup_label')
    writeFileSync(label, labelfile)
    const { uid, gid } = statSync(dataDir)
    chownSync(label, uid, gid)
    const remove = () => rmSync(dir, { recursive: true, force: true })
    return { takenAt, dataDir, copied, [Symbol.dispose]: remove }
  } finally {
    await sql.end({ timeout: 2 })
  }
}

export async function restoreBaseBackup(stack: Stack, { dataDir, copied }: BaseBackup): Promise<void> {
  const server = stack.process('postgres')
  await server.stop('SIGQUIT')
  rmSync(dataDir, { recursive: true, force: true })
  await copy(copied, dataDir)
  server.start()
  await waitUntil('Postgres answering', () => postgresAnswers(stack.adminUrl))
}
