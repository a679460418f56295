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
  /** Wallets that get `walletFundsMicro` each; none by default. */
  wallets?: readonly Address[]
  walletFundsMicro?: bigint
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
/** Number of times that steps are sent, and the time in ms after which those that wait are sent again. */
const sendsMax = 5
const minesWithinMs = 2_000

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
    ...(terms.wallets ?? []).map((wallet) => mint(wallet, terms.walletFundsMicro ?? 0n)),
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

/**
 * Sends the steps in order and returns their receipts. Anvil 1.7.1 never mines a transaction that arrives while it
 * mines the one before (seen once in some 30,000), and refuses the same bytes; it takes a replacement for a higher fee.
 */
async function sendAll(client: LocalClient, account: PrivateKeyAccount, steps: readonly DeployCall[]) {
  const chainId = await client.getChainId()
  const firstNonce = await client.getTransactionCount({ address: account.address })
  const send = ({ to, data }: DeployCall, nonce: number, times: number) =>
    account
      .signTransaction({
        ...(to ? { to } : {}),
        data,
        type: 'eip1559',
        chainId,
        nonce,
        gas: to === undefined ? deployGas : callGas,
        maxFeePerGas: maxFeePerGas * BigInt(times),
      })
      .then((serializedTransaction) => client.sendRawTransaction({ serializedTransaction }))

  const sent = steps.map((): Hex[] => [])
  for (let times = 1; times <= sendsMax; times++) {
    const mined = (await client.getTransactionCount({ address: account.address })) - firstNonce
    for (let at = mined; at < steps.length; at++) sent[at]!.push(await send(steps[at]!, firstNonce + at, times))
    await client.mine({ blocks: 1 })
    const receipts = await minedReceipts(client, sent)
    if (receipts) return receipts
  }
  throw new Error(`the deployment's ${steps.length} steps were not mined, though sent ${sendsMax} times`)
}

/** Returns a receipt per step, or undefined if a step is not mined in time. Throws if a step reverted. */
async function minedReceipts(client: LocalClient, sent: readonly (readonly Hex[])[]) {
  const receiptOf = (hash: Hex) => client.getTransactionReceipt({ hash }).catch(() => undefined)
  const deadline = performance.now() + minesWithinMs
  do {
    const perStep = await Promise.all(sent.map((hashes) => Promise.all(hashes.map(receiptOf))))
    const receipts = perStep.flatMap((copies) => copies.find((receipt) => receipt !== undefined) ?? [])
    const reverted = receipts.find(({ status }) => status === 'reverted')
    if (reverted) throw new Error(`deployment step ${reverted.transactionHash} reverted`)
    if (receipts.length === sent.length) return receipts
    await Bun.sleep(20)
  } while (performance.now() < deadline)
  return undefined
}
