import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Address } from 'viem'
import { startChild } from '#infra/local/child'
import { freePort } from '#infra/local/ports'
import { planPostgres, postgresAnswers } from '#infra/local/postgres'
import { waitUntil } from '#infra/local/wait'
import { databaseRoles } from '#infra/migrations/databases'
import { migrateAll } from '#infra/migrations/migrate'
import { systemClock } from '#shared/clock'
import { type Database, openDatabase } from '#shared/db/open'
import { openLog } from '#shared/log'
import { openReader, type Reader } from '../reader.ts'
import { recordResponder } from '../record.responder.ts'
import type { RigChain } from './chain.ts'

export type RigPostgres = { adminUrl: string; close: () => Promise<void> }

/** A real Postgres in a folder of its own. */
export async function openRigPostgres(): Promise<RigPostgres> {
  const dir = mkdtempSync(join(tmpdir(), 'indexer-reader-'))
  mkdirSync(join(dir, 'logs'))
  const plan = planPostgres({ dir, port: await freePort(), password: 'rig', durable: false })
  const child = startChild(plan.command)
  await waitUntil('Postgres answering', () => postgresAnswers(plan.adminUrl))
  return {
    adminUrl: plan.adminUrl,
    close: async () => {
      await child.end('SIGINT')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** A fresh database with every role and table, opened with the reader's own rights. */
export async function openRigDatabase(server: RigPostgres, name: string) {
  const admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${name} with (force)`)
  await admin.unsafe(`create database ${name}`)
  await admin.end()
  const adminUrl = Object.assign(new URL(server.adminUrl), { pathname: `/${name}` }).href
  const passwords = Object.fromEntries(databaseRoles.map((role) => [role, 'rig'])) as never
  await migrateAll({ adminUrl, passwords })
  const url = Object.assign(new URL(adminUrl), { username: 'indexer_reader', password: 'rig' }).href
  const database = openDatabase({ url, name: 'rig', log: rigLog, onStuck: () => {} })
  return { database, url, adminUrl }
}

/** `RIG_LOG=debug` shows what the parts say. */
export const rigLog = openLog('rig', process.env.RIG_LOG ?? 'silent')

/** A running reader; `stop` ends it as a signal would. */
export function startReader(options: {
  database: Database
  chain: RigChain
  rpcUrls: readonly string[]
  logsRangeMax?: number
  genesisHash?: string
  chainId?: number
}): { reader: Reader; stop: () => Promise<void>; ended: Promise<void> } {
  const { deployment } = options.chain
  const reader = openReader({
    database: options.database,
    rpcUrls: options.rpcUrls,
    identity: {
      chainId: options.chainId ?? 10_143,
      genesisHash: options.genesisHash ?? deployment.genesisHash,
      contract: deployment.creditLine.toLowerCase() as Address,
    },
    deployBlock: Number(deployment.deployBlock),
    logsRangeMax: options.logsRangeMax ?? 100,
    pollMs: 20,
    clock: systemClock,
    log: rigLog,
  })
  const control = new AbortController()
  const ended = reader.run(control.signal)
  ended.catch(() => {})
  return {
    reader,
    ended,
    stop: async () => {
      control.abort()
      await ended.catch(() => {})
    },
  }
}

/** Asks `indexer.record` as the gateway does, without the bus. */
export async function askRecord(
  parts: { database: Database; reader: Reader; nowMs?: () => number; lagMaxMs?: number },
  wallet: string,
) {
  const { database, reader } = parts
  const asked = {
    database,
    origin: reader.origin,
    clock: parts.nowMs ?? systemClock,
    lagMaxMs: parts.lagMaxMs ?? 15_000,
  }
  return recordResponder(asked).answer({ wallet }) as Promise<
    { ok: { history: unknown; blockNumber: string } } | { refused: string }
  >
}
