import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localChainId } from '#infra/local/chain'
import { freePort } from '#infra/local/ports'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { Ground } from '../backfill/ground'
import { logsRange } from '../backfill/viem-loop'
import { installPeer, nodeBinary } from '../peer'

const files: ReadonlyMap<string, string> = new Map([
  ['package.json', 'package.json'],
  ['ponder.config.ts', 'ponder.config.ts'],
  ['ponder.schema.ts', 'ponder.schema.ts'],
  ['index.ts', 'src/index.ts'],
  ['api.ts', 'src/api/index.ts'],
])

/** Number of times that the config lists the node; see `ponder.config.ts.template`. */
const endpoints = 8

export async function layPonder(ground: Ground, databaseUrl: string) {
  const dir = join(ground.dir, 'ponder')
  mkdirSync(join(dir, 'src/api'), { recursive: true })
  for (const [template, path] of files) copyFileSync(join(import.meta.dir, `${template}.template`), join(dir, path))
  const { creditLine, deployBlock } = ground.chain.deployment
  const told = {
    databaseUrl,
    rpcUrl: ground.chain.rpcUrl,
    chainId: localChainId,
    creditLine,
    startBlock: Number(deployBlock),
    logsRange,
    endpoints,
    abi: creditLineAbi,
  }
  const factsFile = join(dir, 'bench.json')
  writeFileSync(factsFile, JSON.stringify(told))
  await installPeer(dir)
  return { dir, factsFile, port: await freePort(), node: nodeBinary() }
}
