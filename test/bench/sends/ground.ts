import { join } from 'node:path'
import pMap from 'p-map'
import postgres, { type Sql } from 'postgres'
import { createPublicClient, createTestClient, createWalletClient, type Hex, http, publicActions } from 'viem'
import { generatePrivateKey, nonceManager, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { bundleOf, currentBundles } from '#infra/bundle/bundle'
import { localTerms } from '#infra/local/chain'
import { bootDependencies } from '#infra/local/dependencies'
import { environments, laneKeys, makeSecrets, type Secrets } from '#infra/local/environment'
import { devKey } from '#infra/local/keys'
import { freePort } from '#infra/local/ports'
import { openProcesses, type Processes } from '#infra/local/processes'
import { waitUntil } from '#infra/local/wait'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { signTransfer } from '#shared/client/transfer'
import { liftedLimits } from '#test/support/settings'
import { benchDir } from '../bench-dir'

type Dependencies = Awaited<ReturnType<typeof bootDependencies>>

export type Ground = AsyncDisposable & {
  readonly backbone: Dependencies
  readonly processes: Processes
  readonly secrets: Secrets
  readonly dir: string
  readonly sql: Sql
  readonly wallets: readonly PrivateKeyAccount[]
  /** Signs transfers of 0.01 AUSD, the minimum, by all wallets in turn. */
  readonly signTransfers: (count: number) => Promise<SignedTransfer[]>
}

const walletCount = 100

export async function laySendGround(): Promise<Ground> {
  await using stack = new AsyncDisposableStack()
  const dir = stack.use(benchDir()).path
  const secrets = makeSecrets({})
  const processes = openProcesses({ onDeath: () => {}, onStart: () => {} })
  stack.defer(() => processes.end())
  const backbone = await bootDependencies(processes, {
    dir,
    choosePort: () => freePort(),
    durable: true,
    secrets,
    terms: localTerms,
    wallets: [],
    own: {},
  })
  const sql = postgres(backbone.adminUrl, { max: 1, onnotice: () => {} })
  stack.defer(() => sql.end({ timeout: 1 }))
  const wallets = Array.from({ length: walletCount }, () => privateKeyToAccount(generatePrivateKey()))
  await admit(backbone, wallets)
  const owned = stack.move()
  return {
    backbone,
    processes,
    secrets,
    dir,
    sql,
    wallets,
    signTransfers: (count) => signTransfers(backbone, wallets, count),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Verifies the wallets and mints AUSD for them. It uses a lane's key, so it must end before a relayer starts. */
async function admit(
  { rpcUrl, chainId, deployment: { ausd, creditLine } }: Dependencies,
  wallets: readonly PrivateKeyAccount[],
): Promise<void> {
  const setup = { chain: chainOf(chainId), transport: http(rpcUrl), pollingInterval: 100 }
  const reader = createPublicClient(setup)
  const actor = (key: Hex) => createWalletClient({ ...setup, account: privateKeyToAccount(key, { nonceManager }) })
  const [verifier, admin] = [actor(laneKeys[0]!), actor(devKey('admin'))]
  const gas = 120_000n
  const hashes = await Promise.all(
    wallets.flatMap(({ address }) => [
      verifier.writeContract({
        address: creditLine,
        abi: creditLineAbi,
        gas,
        functionName: 'setVerified',
        args: [address, true],
      }),
      admin.writeContract({
        address: ausd,
        abi: ausdAbi,
        gas,
        functionName: 'mint',
        args: [address, 1_000_000_000n],
      }),
    ]),
  )
  for (const hash of hashes) {
    const { status } = await reader.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error('preparing a wallet reverted')
  }
  const chain = createTestClient({ ...setup, mode: 'anvil' }).extend(publicActions)
  for (const key of laneKeys) await chain.setBalance({ address: privateKeyToAccount(key).address, value: 10n ** 23n })
}

async function signTransfers(
  { rpcUrl, chainId, deployment: { ausd } }: Dependencies,
  wallets: readonly PrivateKeyAccount[],
  count: number,
): Promise<SignedTransfer[]> {
  const reader = createPublicClient({ chain: chainOf(chainId), transport: http(rpcUrl) })
  const [, name, version] = await reader.readContract({
    address: ausd,
    abi: ausdAbi,
    functionName: 'eip712Domain',
  })
  const domain = { name, version, chainId, verifyingContract: ausd }
  const to = privateKeyToAccount(generatePrivateKey()).address
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      signTransfer(wallets[index % wallets.length]!, domain, { to, valueMicro: 10_000n }),
    ),
  )
}

export async function startService(
  { backbone, processes, secrets, dir }: Ground,
  name: 'chain-relayer' | 'gateway',
  settings: Readonly<Record<string, string>> = {},
) {
  const places = {
    gatewayPort: 0,
    gateway: '',
    sandbox: '',
    opsPort: 0,
    sandboxPort: 0,
    bookPath: '',
    ...backbone,
  }
  const env = { ...environments(places, secrets)[name], ...liftedLimits[name] }
  return processes.add({
    name,
    bin: process.execPath,
    args: [bundleOf(await currentBundles(), name)],
    env: { ...env, END_WITH_STDIN: '1', ...settings },
    logFile: join(dir, `logs/${name}.log`),
  })
}

const finalMs = 300_000

export async function sendAll(
  { sql }: Ground,
  transfers: readonly SignedTransfer[],
  request: (transfer: SignedTransfer) => Promise<unknown>,
  concurrency: number,
): Promise<{ askedMs: number; tookMs: number }> {
  const settled = async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int from chain_relayer.operation where kind = 'send' and state = 'settled'`
    return row!.count
  }
  const wanted = (await settled()) + transfers.length
  const startedAt = performance.now()
  await pMap(transfers, request, { concurrency })
  const askedMs = performance.now() - startedAt
  await waitUntil('every send to be final', async () => (await settled()) >= wanted, finalMs, 50)
  return { askedMs, tookMs: performance.now() - startedAt }
}
