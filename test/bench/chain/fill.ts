import { type DeployedContracts, deployContracts } from '#infra/contracts/deploy'
import { devKey } from '#infra/local/keys'
import { actsOf, pauseLeastSeconds, termsOf } from './history'
import { type Node, rpc, startNode } from './node'
import { openOutbound, relayer, verifier, walletAt } from './outbound'

const walletsPerBlock = 40
const eventsPerWallet = 50
/** Blocks after the last event, which make every event final; Ponder waits for 30 blocks on an unknown chain. */
const blocksAfter = 64

export type BenchChain = Node & {
  readonly deployment: DeployedContracts
  readonly events: number
  readonly wallets: number
  readonly blocks: number
  readonly filledInMs: number
}

export async function fillChain(dir: string, eventsWanted: number): Promise<BenchChain> {
  const startedAt = performance.now()
  const groups = Math.max(8, Math.ceil(eventsWanted / eventsPerWallet / walletsPerBlock))
  const secondsPerBlock = Math.ceil(pauseLeastSeconds / groups)
  // The span is an upper bound, because each turn of a wallet emits at least one event.
  const spanSeconds = groups * eventsPerWallet * secondsPerBlock
  const node = await startNode(dir, Math.floor(Date.now() / 1_000) - spanSeconds)
  const deployment = await deployContracts({
    ...termsOf(groups * secondsPerBlock),
    rpcUrl: node.rpcUrl,
    adminKey: devKey('admin'),
    treasuryKey: devKey('treasury'),
    relayers: [relayer],
    verifiers: [verifier],
    treasuryFundsMicro: 10n ** 18n,
    liquidityMicro: 10n ** 17n,
  })
  const pace = (seconds: number) => ({
    method: 'anvil_setBlockTimestampInterval',
    params: [seconds],
  })
  await rpc(node.rpcUrl, [pace(secondsPerBlock)])
  const outbound = openOutbound(deployment)
  let events = 1 // The first event is the funding of the lending pool.
  let blocks = 0
  while (events < eventsWanted) {
    const group = blocks % groups
    const visit = Math.floor(blocks / groups)
    for (let seat = 0; seat < walletsPerBlock; seat++) {
      const index = group * walletsPerBlock + seat
      for (const act of actsOf(index, visit)) {
        outbound.add(walletAt(index), act)
        events += act.events
      }
    }
    await rpc(node.rpcUrl, outbound.take())
    await rpc(node.rpcUrl, [{ method: 'evm_mine', params: [] }])
    blocks++
  }
  // The last blocks are one second apart and end about now.
  const endsFrom = Math.floor(Date.now() / 1_000) - blocksAfter
  await rpc(node.rpcUrl, [
    pace(1),
    { method: 'evm_setNextBlockTimestamp', params: [endsFrom] },
    { method: 'anvil_mine', params: [`0x${blocksAfter.toString(16)}`] },
  ])
  const wallets = groups * walletsPerBlock
  return { ...node, deployment, events, wallets, blocks, filledInMs: performance.now() - startedAt }
}
