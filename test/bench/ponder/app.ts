import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { localChainId } from '#infra/local/chain'
import { freePort } from '#infra/local/ports'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { Ground } from '../backfill/ground'
import { logsRange } from '../backfill/viem-loop'

const files: ReadonlyMap<string, string> = new Map([
  ['package.json', 'package.json'],
  ['ponder.config.ts', 'ponder.config.ts'],
  ['ponder.schema.ts', 'ponder.schema.ts'],
  ['index.ts', 'src/index.ts'],
  ['api.ts', 'src/api/index.ts'],
])

/** How often the node is named: see the template of the configuration. */
const endpoints = 8
const installMs = 300_000

/** A Ponder application in a folder of its own, with Ponder installed into it by npm. */
export async function layPonder(ground: Ground, databaseUrl: string) {
  const dir = join(ground.dir, 'ponder')
  mkdirSync(join(dir, 'src/api'), { recursive: true })
  for (const [template, path] of files)
    copyFileSync(join(import.meta.dir, `${template}.template`), join(dir, path))
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
  await install(dir)
  return { dir, factsFile, port: await freePort(), node: nodeBinary() }
}

function nodeBinary(): string {
  const node = Bun.which('node')
  if (!node) throw new Error('there is no node on the PATH, and Ponder runs on nothing else')
  return node
}

async function install(dir: string): Promise<void> {
  const npm = Bun.which('npm')
  if (!npm) throw new Error('there is no npm on the PATH')
  const child = Bun.spawn([npm, 'install', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: dir,
    stdout: 'ignore',
    stderr: 'pipe',
    timeout: installMs,
  })
  const complaint = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`npm: ${complaint.trim().slice(0, 300)}`)
}
