import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

export const localChainId = 10_143

/**
 * Monad's finality: `finalized` is two blocks behind `latest`. Keep anvil's minimum priority fee: without it,
 * anvil suggests a fee cap below the tip that wallets add once the base fee has decayed.
 */
export const anvilFlags: readonly string[] = [
  '--chain-id',
  String(localChainId),
  '--slots-in-an-epoch',
  '1',
  '--gas-limit',
  '150000000',
  '--block-base-fee-per-gas',
  '100000000000',
  '--order',
  'fifo',
  '--accounts',
  '1',
  '--prune-history',
  '64',
  '--quiet',
]

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Returns the path of the package of this platform, or of the program on the PATH. */
export function findAnvil(): string | undefined {
  const folder = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch]}/bin`
  const packaged = Bun.which('anvil', { PATH: join(repositoryDir, 'node_modules', folder) })
  return packaged ?? Bun.which('anvil') ?? undefined
}

export function anvilBinary(): string {
  const found = findAnvil()
  if (found) return found
  throw new Error('no anvil package for this platform: put anvil on the PATH, or set RPC_URL')
}
