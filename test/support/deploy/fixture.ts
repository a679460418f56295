import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Address,
  createTestClient,
  encodeAbiParameters,
  getContractAddress,
  type Hex,
  http,
  keccak256,
  numberToHex,
  publicActions,
} from 'viem'
import { deployContracts } from '#infra/contracts/deploy'
import { fields } from '#infra/deploy/config'
import { deploy } from '#infra/deploy/deploy'
import type { GasLimits } from '#infra/deploy/gas'
import { exitCodeOf, report } from '#infra/deploy/report'
import { wantedOf } from '#infra/deploy/wanted'
import { repositoryDir } from '#infra/local/folders'
import { devAccount, devKey } from '#infra/local/keys'
import { readConfig } from '#platform/config'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { startAnvil } from '../engines/anvil'

export type Env = Readonly<Record<string, string>>
export const admin = devAccount('admin').address
export const treasury = devAccount('treasury').address

/** Options of anvil for blocks like Monad's, but faster. */
const pace = ['--block-time', '0.1', '--slots-in-an-epoch', '1', '--order', 'fifo']
const fees = ['--block-base-fee-per-gas', '100000000000', '--no-priority-fee', '--accounts', '1']

export async function openDeployFixture() {
  const anvil = await startAnvil([...pace, ...fees])
  const dir = mkdtempSync(join(tmpdir(), 'deploy-'))
  const client = createTestClient({ mode: 'anvil', transport: http(anvil.rpcUrl), cacheTime: 0 })
  const env: Env = {
    DEPLOYMENT: 'local',
    PUBLIC_SECRETS: 'allowed',
    RPC_URLS: anvil.rpcUrl,
    ADMIN_KEY: devKey('admin'),
    TREASURY_KEY: devKey('treasury'),
    LANE_KEYS: [devKey('lane 0'), devKey('lane 1')].join(','),
    ADDRESSES_FILE: join(dir, 'addresses.json'),
    FINAL_WITHIN_MS: '20000',
  }
  const close = async () => {
    await anvil.close()
    rmSync(dir, { recursive: true, force: true })
  }
  return { rpcUrl: anvil.rpcUrl, dir, env, client: client.extend(publicActions), close }
}
export type DeployFixture = Awaited<ReturnType<typeof openDeployFixture>>

/** Runs the deployment in this process. */
export async function run(fixture: DeployFixture, more: Env = {}, dryRun = false, gasLimits?: GasLimits) {
  const config = readConfig('deploy', fields, { ...fixture.env, ...more })
  const { wanted, signers } = wantedOf(config)
  const lines: string[] = []
  const { rpcUrls, addressesFile, finalWithinMs } = config
  const say = (line: string) => void lines.push(line)
  const job = {
    wanted,
    signers,
    rpcUrls,
    addressesFile,
    finalWithinMs,
    dryRun,
    say,
    ...(gasLimits && { gasLimits }),
  }
  const deployment = await deploy(job)
  const done = lines.filter((line) => line.startsWith('done: ')).map((line) => line.slice(6))
  return { deployment, done, text: report(deployment, wanted), exitCode: exitCodeOf(deployment) }
}

/** Runs the deployment as an operator or a container does. */
export async function spawnRun(fixture: DeployFixture, more: Env = {}) {
  const child = Bun.spawn([process.execPath, 'infra/deploy/main.ts'], {
    cwd: repositoryDir,
    env: { PATH: process.env.PATH ?? '', ...fixture.env, ...more },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await child.exited
  return { exitCode: child.exitCode, signal: child.signalCode, text: out + err }
}

export async function creditLinesOf({ client }: DeployFixture, account: Address): Promise<Address[]> {
  const count = await client.getTransactionCount({ address: account })
  const created = Array.from({ length: count }, (_, nonce) =>
    getContractAddress({ from: account, nonce: BigInt(nonce) }),
  )
  const found = await Promise.all(
    created.map((address) =>
      client
        .readContract({ address, abi: creditLineAbi, functionName: 'treasury' })
        .then(() => [address])
        .catch(() => []),
    ),
  )
  return found.flat()
}

/** Installs a token that our accounts cannot mint, as on the test chain. */
export async function installToken(fixture: DeployFixture, address: Address, change = (code: Hex) => code) {
  await using template = await startAnvil()
  const { ausd } = await deployContracts({
    rpcUrl: template.rpcUrl,
    adminKey: devKey('mint'),
    treasuryKey: devKey('treasury'),
    relayers: [],
    verifiers: [],
    treasuryFundsMicro: 0n,
    liquidityMicro: 0n,
    holdSeconds: 60,
    minCycleSeconds: 1,
    minDebtMicro: 1n,
    termSeconds: 60,
    graceSeconds: 86_400,
  })
  const reader = createTestClient({ mode: 'anvil', transport: http(template.rpcUrl) })
  const code = await reader.extend(publicActions).getCode({ address: ausd })
  await fixture.client.setCode({ address, bytecode: change(code!) })
}

/** Gives AUSD to a holder. The balances are the first slot of the stand-in. */
export async function giveAusd(fixture: DeployFixture, token: Address, holder: Address, micro: bigint) {
  const types = [{ type: 'address' }, { type: 'uint256' }] as const
  const index = keccak256(encodeAbiParameters(types, [holder, 0n]))
  const value = numberToHex(micro, { size: 32 })
  await fixture.client.setStorageAt({ address: token, index, value })
}
