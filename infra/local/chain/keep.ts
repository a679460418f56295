import { open, rename, rm } from 'node:fs/promises'
import { runCommand } from '#platform/command'
import { pause } from '#platform/deadline'

type StoredBlock = {
  header: { number: string | number; timestamp: string | number }
  transactions: unknown[]
}
export type ChainState = { best_block_number: string | number; blocks: StoredBlock[] }

/** Readers of the chain head need these blocks, even if empty. */
const recentBlocks = 1_000

/** An empty block every 0.3 s is 450 MB a day. Logs, receipts and balances are unchanged. */
export function withoutEmptyBlocks<S extends ChainState>(state: S, recent = recentBlocks): S {
  const newest = Number(state.best_block_number)
  const isFirst = ({ header }: StoredBlock) => Number(header.number) === 0
  const age = ({ header }: StoredBlock) => Number(header.timestamp)
  // Each start of anvil adds a block 0; the oldest is the chain's.
  const first = state.blocks.filter(isFirst).toSorted((left, right) => age(left) - age(right))[0]
  const stays = (block: StoredBlock) =>
    isFirst(block) ? block === first : block.transactions.length > 0 || Number(block.header.number) > newest - recent
  return { ...state, blocks: state.blocks.filter(stays) }
}

export async function dumpState(rpcUrl: string): Promise<ChainState> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_dumpState', params: [] }),
    signal: AbortSignal.timeout(60_000),
  })
  const { result, error } = (await answer.json()) as { result?: string; error?: object }
  if (!result) throw new Error(`anvil_dumpState failed: ${JSON.stringify(error)}`)
  const text = Bun.gunzipSync(Buffer.from(result.slice(2), 'hex'))
  return JSON.parse(new TextDecoder().decode(text)) as ChainState
}

/** Syncs and renames a temporary file, so that a killed save leaves a loadable one. */
export async function keepState(rpcUrl: string, file: string): Promise<void> {
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
        await keepState(rpcUrl, file).catch((error: Error) => say(`chain save failed, will retry: ${error.message}`))
        const tookMs = Date.now() - startedAt
        await pause(Math.max(everyMs, restPerWork * tookMs), stop.signal)
      }
      // The chain is stopped only after this process, so this save is complete.
      await keepState(rpcUrl, file)
    },
  )
  process.exit()
}
