import { open, rename, rm } from 'node:fs/promises'
import { runCommand } from '#shared/command'
import { pause } from '#shared/deadline'

/** A block as anvil writes it into its state, as far as it is read here. */
type StoredBlock = {
  header: { number: string | number; timestamp: string | number }
  transactions: unknown[]
}
export type ChainState = { best_block_number: string | number; blocks: StoredBlock[] }

/** So many of the newest blocks stay, with or without transactions: who reads the head, reads these. */
const recentBlocks = 1_000

/**
 * A state without its old empty blocks, but the first: a local chain makes one every 0.3 s, 450 MB a
 * day, and nothing is in them. Logs, receipts and balances stay as they are.
 */
export function withoutEmptyBlocks<S extends ChainState>(state: S, recent = recentBlocks): S {
  const newest = Number(state.best_block_number)
  const isFirst = ({ header }: StoredBlock) => Number(header.number) === 0
  const age = ({ header }: StoredBlock) => Number(header.timestamp)
  // Each start of anvil makes a first block of its own; the chain's is the oldest of them.
  const first = state.blocks.filter(isFirst).toSorted((left, right) => age(left) - age(right))[0]
  const stays = (block: StoredBlock) =>
    isFirst(block)
      ? block === first
      : block.transactions.length > 0 || Number(block.header.number) > newest - recent
  return { ...state, blocks: state.blocks.filter(stays) }
}

/** The state of a running anvil, as it would write it into a file. */
export async function dumpState(rpcUrl: string): Promise<ChainState> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_dumpState', params: [] }),
    signal: AbortSignal.timeout(60_000),
  })
  const { result, error } = (await answer.json()) as { result?: string; error?: object }
  if (!result) throw new Error(`anvil does not give its state: ${JSON.stringify(error)}`)
  const text = Bun.gunzipSync(Buffer.from(result.slice(2), 'hex'))
  return JSON.parse(new TextDecoder().decode(text)) as ChainState
}

/**
 * Writes the chain's state beside the file and puts it in its place when it is whole and on the disk:
 * whatever is killed meanwhile, the file is one that anvil can load.
 */
export async function saveState(rpcUrl: string, file: string): Promise<void> {
  const text = JSON.stringify(withoutEmptyBlocks(await dumpState(rpcUrl)))
  const aside = `${file}.new`
  const handle = await open(aside, 'w')
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(aside, file)
}

const everyMs = 2_000
/** To write it takes longer the more there is: no more than a twentieth of the time is spent on it. */
const restPerWork = 20

if (import.meta.main) {
  await runCommand(
    () => [],
    async (say) => {
      const { RPC_URLS: rpcUrl, CHAIN_STATE_FILE: file } = process.env
      if (!rpcUrl || !file) throw new Error('RPC_URLS and CHAIN_STATE_FILE must be set')
      await rm(`${file}.new`, { force: true })
      const stop = new AbortController()
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort())
      while (!stop.signal.aborted) {
        const startedAt = Date.now()
        await saveState(rpcUrl, file).catch((error: Error) => say(`not kept: ${error.message}`))
        const tookMs = Date.now() - startedAt
        await pause(Math.max(everyMs, restPerWork * tookMs), stop.signal)
      }
      // An orderly end loses nothing: the chain is stopped after this.
      await saveState(rpcUrl, file)
    },
  )
  process.exit()
}
