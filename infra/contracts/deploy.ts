import {
  type Address,
  createTestClient,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  http,
  keccak256,
  maxUint256,
  parseEther,
  parseGwei,
  publicActions,
  toBytes,
  walletActions,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { ausdBytecode, creditLineBytecode, multicall3Runtime } from '#infra/contracts/artifacts.gen'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

/** Terms of a deployment. AUSD is in micro-AUSD, times are in seconds. */
export type DeployTerms = {
  rpcUrl: string
  adminKey: Hex
  treasuryKey: Hex
  relayers: readonly Address[]
  verifiers: readonly Address[]
  treasuryFundsMicro: bigint
  liquidityMicro: bigint
  holdSeconds: number
  minCycleSeconds: number
  /** Minimum debt: a cycle counts if debt × seconds reaches this × `minCycleSeconds`. */
  minDebtMicro: bigint
  termSeconds: number
  graceSeconds: number
  /** Initial ratio in basis points; 5000 by default. */
  initialRatioBps?: number
}

/** Addresses of a deployment. `genesisHash` tells its chain from an earlier one at the same URL. */
export type DeployedContracts = {
  ausd: Address
  creditLine: Address
  treasury: Address
  deployBlock: bigint
  genesisHash: Hex
}

type LocalClient = ReturnType<typeof openClient>
type DeployCall = { to?: Address; data: Hex }

/** Gas of one deployment. All steps together fit into anvil's block of 30 million. */
const deployGas = 12_000_000n
const callGas = 200_000n
const maxFeePerGas = parseGwei('1000')
const nativeFloorWei = parseEther('1000')
const waitMs = 10_000

/**
 * Deploys, funds and connects both contracts, on anvil only. The same keys on a fresh chain give the same addresses.
 * Throws if a step reverts.
 */
export async function deployContracts(terms: DeployTerms): Promise<DeployedContracts> {
  const client = openClient(terms.rpcUrl)
  const admin = privateKeyToAccount(terms.adminKey)
  const treasury = privateKeyToAccount(terms.treasuryKey)
  await client.setCode({ address: multicall3, bytecode: multicall3Runtime })
  await fundNative(client, [admin.address, treasury.address, ...terms.relayers, ...terms.verifiers])

  const firstNonce = await client.getTransactionCount({ address: admin.address })
  const ausd = addressAt(admin.address, firstNonce)
  const creditLine = addressAt(admin.address, firstNonce + 1)
  const steps = adminSteps(terms, admin.address, treasury.address, { ausd, creditLine })
  const [, deployed] = await sendAll(client, admin, steps)
  // The approval comes last: before the token has code, it would succeed without effect.
  await sendAll(client, treasury, [approval(ausd, creditLine, maxUint256)])

  const genesis = await client.getBlock({ blockNumber: 0n })
  return {
    ausd,
    creditLine,
    treasury: treasury.address,
    deployBlock: deployed!.blockNumber,
    genesisHash: genesis.hash,
  }
}

function openClient(rpcUrl: string) {
  const transport = http(rpcUrl, { retryCount: 0, timeout: waitMs })
  return createTestClient({ mode: 'anvil', transport, cacheTime: 0 }).extend(publicActions).extend(walletActions)
}

const addressAt = (from: Address, nonce: number) => getContractAddress({ from, nonce: BigInt(nonce) })

const approval = (ausd: Address, spender: Address, amountMicro: bigint): DeployCall => ({
  to: ausd,
  data: encodeFunctionData({
    abi: ausdAbi,
    functionName: 'approve',
    args: [spender, amountMicro],
  }),
})

function adminSteps(
  terms: DeployTerms,
  admin: Address,
  treasury: Address,
  at: { ausd: Address; creditLine: Address },
): DeployCall[] {
  const mint = (to: Address, amountMicro: bigint): DeployCall => ({
    to: at.ausd,
    data: encodeFunctionData({ abi: ausdAbi, functionName: 'mint', args: [to, amountMicro] }),
  })
  const grant = (role: string) => (account: Address) => ({
    to: at.creditLine,
    data: encodeFunctionData({
      abi: creditLineAbi,
      functionName: 'grantRole',
      args: [keccak256(toBytes(role)), account],
    }),
  })
  const funding: DeployCall[] =
    terms.liquidityMicro === 0n
      ? []
      : [
          mint(admin, terms.liquidityMicro),
          approval(at.ausd, at.creditLine, terms.liquidityMicro),
          {
            to: at.creditLine,
            data: encodeFunctionData({
              abi: creditLineAbi,
              functionName: 'fundLiquidity',
              args: [terms.liquidityMicro],
            }),
          },
        ]
  return [
    { data: encodeDeployData({ abi: ausdAbi, bytecode: ausdBytecode, args: [admin] }) },
    { data: creditLineCode(terms, admin, treasury, at.ausd) },
    mint(treasury, terms.treasuryFundsMicro),
    ...funding,
    ...terms.relayers.map(grant('RELAYER_ROLE')),
    ...terms.verifiers.map(grant('VERIFIER_ROLE')),
  ]
}

function creditLineCode(terms: DeployTerms, admin: Address, treasury: Address, token: Address) {
  return encodeDeployData({
    abi: creditLineAbi,
    bytecode: creditLineBytecode,
    args: [
      {
        token,
        treasury,
        admin,
        holdSeconds: BigInt(terms.holdSeconds),
        minCycleSeconds: BigInt(terms.minCycleSeconds),
        minDebt: terms.minDebtMicro,
        termSeconds: BigInt(terms.termSeconds),
        graceSeconds: BigInt(terms.graceSeconds),
        initialRatioBps: BigInt(terms.initialRatioBps ?? 5_000),
      },
    ],
  })
}

async function fundNative(client: LocalClient, addresses: readonly Address[]) {
  await Promise.all(
    addresses.map(async (address) => {
      if ((await client.getBalance({ address })) >= nativeFloorWei) return
      await client.setBalance({ address, value: nativeFloorWei })
    }),
  )
}

async function sendAll(client: LocalClient, account: PrivateKeyAccount, steps: readonly DeployCall[]) {
  const [chainId, firstNonce] = await Promise.all([
    client.getChainId(),
    client.getTransactionCount({ address: account.address }),
  ])
  const hashes: Hex[] = []
  for (const [index, step] of steps.entries()) {
    const serializedTransaction = await account.signTransaction({
      ...step,
      type: 'eip1559',
      chainId,
      nonce: firstNonce + index,
      gas: step.to === undefined ? deployGas : callGas,
      maxFeePerGas,
    })
    hashes.push(await client.sendRawTransaction({ serializedTransaction }))
  }
  await client.mine({ blocks: 1 })
  const deadline = performance.now() + waitMs
  return await Promise.all(hashes.map((hash) => minedReceipt(client, hash, deadline)))
}

async function minedReceipt(client: LocalClient, hash: Hex, deadline: number) {
  while (performance.now() < deadline) {
    const receipt = await client.getTransactionReceipt({ hash }).catch(() => null)
    if (receipt?.status === 'reverted') throw new Error(`deployment step ${hash} reverted`)
    if (receipt) return receipt
    await Bun.sleep(20)
  }
  throw new Error(`deployment step ${hash} was not mined within ${waitMs} ms`)
}
