import postgres from 'postgres'
import type { Address } from 'viem'
import { migrateAll } from '#infra/migrations/migrate'
import type { ScratchPostgres } from '#infra/migrations/scratch-postgres'
import { systemClock } from '#shared/clock'
import { type Database, openDatabase } from '#shared/db/open'
import { openLog } from '#shared/log'
import { openReader, type Reader } from '../reader.ts'
import { recordResponder } from '../record.responder.ts'
import type { RigChain } from './chain.ts'

/** A fresh database with every role and table, opened with the reader's own rights. */
export async function openRigDatabase(server: ScratchPostgres, name: string) {
  const admin = postgres(server.adminUrl, { max: 1, onnotice: () => {} })
  await admin.unsafe(`drop database if exists ${name} with (force)`)
  await admin.unsafe(`create database ${name}`)
  await admin.end()
  const adminUrl = Object.assign(new URL(server.adminUrl), { pathname: `/${name}` }).href
  const { passwords } = server
  await migrateAll({ adminUrl, passwords })
  const own = server.urlAs('indexer_reader', passwords.indexer_reader)
  const url = Object.assign(new URL(own), { pathname: `/${name}` }).href
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
