import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { laneKeys } from '#infra/local/environment'
import { freePort } from '#infra/local/ports'
import { waitUntil } from '#infra/local/wait'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { installPeer, nodeBinary } from '../peer'
import type { Ground } from '../sends/ground'

export async function startFacilitator({ backbone, processes, dir: groundDir }: Ground) {
  const dir = join(groundDir, 'x402')
  mkdirSync(dir)
  for (const file of ['package.json', 'facilitator.mjs'])
    copyFileSync(join(import.meta.dir, `${file}.template`), join(dir, file))
  const { rpcUrl, chainId, deployment } = backbone
  const port = await freePort()
  const factsFile = join(dir, 'bench.json')
  writeFileSync(factsFile, JSON.stringify({ rpcUrl, chainId, laneKeys, port }))
  await installPeer(dir)
  const evm = join(dir, 'node_modules/@x402/evm/package.json')
  const { version } = JSON.parse(readFileSync(evm, 'utf8')) as { version: string }
  const facilitator = processes.add({
    name: 'facilitator',
    bin: nodeBinary(),
    args: [join(dir, 'facilitator.mjs')],
    env: { HOME: dir, NODE_ENV: 'production', BENCH_FACTS: factsFile },
    logFile: join(groundDir, 'logs/facilitator.log'),
  })
  const url = `http://127.0.0.1:${port}`
  await waitUntil('the facilitator to respond', () => fetch(url).catch(() => undefined), 60_000)
  const settle = async (transfer: SignedTransfer) => {
    const response = await fetch(`${url}/settle`, {
      method: 'POST',
      body: JSON.stringify(paymentOf(transfer, chainId, deployment.ausd)),
    })
    const settled = (await response.json()) as { success?: boolean }
    if (!settled.success) throw new Error(`x402 settle failed: ${JSON.stringify(settled)}`)
  }
  return { version, settle, stop: () => facilitator.stop('SIGTERM') }
}

/** Returns a payment of version 2, whose requirements are exactly the signed transfer. */
function paymentOf({ signature, ...authorization }: SignedTransfer, chainId: number, asset: string) {
  const paymentRequirements = {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    asset,
    amount: authorization.value,
    payTo: authorization.to,
    maxTimeoutSeconds: 3_600,
    extra: { name: 'Agora Dollar', version: '1' },
  }
  const paymentPayload = {
    x402Version: 2,
    accepted: paymentRequirements,
    payload: { signature, authorization },
  }
  return { paymentPayload, paymentRequirements }
}
