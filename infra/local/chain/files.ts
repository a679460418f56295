import { existsSync, mkdirSync, readFileSync, truncateSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** `signed` are the bytes of a transaction, `from` is its sender. */
export type KeptTransaction = { readonly from: string; readonly signed: string }

/** `timestamp` is in unix seconds, `baseFee` in wei as hex. Transactions are in the order of the block. */
export type KeptBlock = {
  readonly number: number
  readonly hash: string
  readonly timestamp: number
  readonly baseFee: string
  readonly transactions: readonly KeptTransaction[]
}

export const damaged = 'the saved chain is damaged'

/** The files are unreadable, or lead to other blocks than those that were shown. */
export class DamagedChain extends Error {
  override name = 'DamagedChain'
  constructor(why: string) {
    super(`${damaged}: ${why}`)
  }
}

/** A snapshot of the chain, and a journal of the blocks that were mined since. */
export type ChainFiles = AsyncDisposable & {
  /** Gzipped JSON in anvil's format; undefined if none was saved yet. */
  readonly snapshot: () => Uint8Array | undefined
  /** The journal, oldest block first. Its first blocks may be in the snapshot too. */
  readonly blocks: () => readonly KeptBlock[]
  /** Resolves when the block is on disk. */
  readonly append: (block: KeptBlock) => Promise<void>
  /** Resolves when the snapshot, which must contain all blocks of the journal, is on disk. */
  readonly replace: (snapshot: Uint8Array) => Promise<void>
}

const snapshotPath = (dir: string) => join(dir, 'snapshot.json.gz')

export const hasSnapshot = (dir: string): boolean => existsSync(snapshotPath(dir))

/** Only one process at a time may open a folder. */
export async function openChainFiles(dir: string): Promise<ChainFiles> {
  mkdirSync(dir, { recursive: true })
  const path = snapshotPath(dir)
  const draft = `${path}.draft`
  const journalPath = join(dir, 'blocks.jsonl')
  const journal = await open(journalPath, 'a')
  await rm(draft, { force: true })
  await syncFolder(dir)
  return {
    snapshot: () => (existsSync(path) ? readFileSync(path) : undefined),
    blocks: () => {
      dropHalfLine(journalPath)
      return readFileSync(journalPath, 'utf8').split('\n').filter(Boolean).map(blockOf)
    },
    append: async (block) => {
      await journal.writeFile(`${JSON.stringify(block)}\n`)
      await journal.datasync()
    },
    replace: async (snapshot) => {
      await writeSynced(draft, snapshot)
      await rename(draft, path)
      await syncFolder(dir)
      // A kill before this leaves blocks that are in the snapshot too.
      await journal.truncate(0)
    },
    [Symbol.asyncDispose]: () => journal.close(),
  }
}

/** No reader has seen a block whose line is incomplete. */
function dropHalfLine(path: string): void {
  const content = readFileSync(path)
  const end = content.lastIndexOf('\n') + 1
  if (end < content.length) truncateSync(path, end)
}

function blockOf(line: string): KeptBlock {
  try {
    return JSON.parse(line) as KeptBlock
  } catch {
    throw new DamagedChain('its journal has an unreadable line')
  }
}

async function writeSynced(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, 'w')
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the names of files in it survive a power cut. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
