import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestClient, createWalletClient, erc20Abi, type Hex, http, publicActions } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import { type Person, personOf } from '#infra/demo/person'
import { anvilFlags } from '#infra/local/chain/anvil'
import type { Stack } from '#infra/local/stack'
import { waitUntil } from '#infra/local/wait'
import { feesWithin } from '#infra/reference-app/page/chain'
import { pause } from '#platform/deadline'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { gasLimits, journeyWei, leastBaseFeeWei, tipWei } from '#shared/chain/gas'
import { okOf } from '#shared/client/client'
import { fields } from '../../services/chain-relayer/config'
import { query } from '../support/database'
import { type AnvilProcess, startAnvil } from '../support/engines/anvil'
import { creditedTopUp } from '../support/flows'
import { defaultsOf } from '../support/settings'
import { ownStack } from '../support/stack'

// The chain asks a constant least fee and charges gas limits, as Monad does. The relayer has a deployment's drip.

const { dripWei } = defaultsOf('chain-relayer', fields)

const nobody = '0x000000000000000000000000000000000000dEaD'

let anvil: AnvilProcess
let stack: Stack
let mining: AsyncDisposable
let person: Person
let key: Hex

beforeAll(async () => {
  anvil = await startAnvil(['--no-mining', ...anvilFlags.filter((_, at) => at > 1 && at < 8)])
  mining = mineAtLeastFee(anvil.rpcUrl)
  stack = await ownStack({ own: { RPC_URL: anvil.rpcUrl } })
  key = generatePrivateKey()
  person = personOf(stack.info, key)
})
afterAll(async () => {
  await mining?.[Symbol.asyncDispose]()
  await stack?.[Symbol.asyncDispose]()
  await anvil?.close()
})

/** Mines a block every 300 ms, each at Monad's least base fee, which anvil would let fall. */
function mineAtLeastFee(rpcUrl: string): AsyncDisposable {
  const client = createTestClient({ mode: 'anvil', transport: http(rpcUrl) })
  const stop = new AbortController()
  const running = (async () => {
    while (!stop.signal.aborted) {
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: leastBaseFeeWei })
      await client.mine({ blocks: 1 })
      await pause(300)
    }
  })()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}

/** Opens the borrower's own access to the chain, which bids as the app does and is charged the limit. */
async function openWallet() {
  const { chain: terms } = okOf(await person.api.config())
  const account = privateKeyToAccount(key)
  const transport = http(anvil.rpcUrl)
  const chain = chainOf(terms.chainId)
  const node = createWalletClient({ account, chain, transport }).extend(publicActions)
  const ledger = createTestClient({ mode: 'anvil', chain, transport })
  const balanceWei = () => node.getBalance(account)
  let spentWei = 0n

  async function send(
    call: { address: Hex; abi: unknown; functionName: string; args: readonly unknown[] },
    gas: bigint,
  ) {
    const { baseFeePerGas } = await node.getBlock()
    const fees = feesWithin({ baseFeeWei: baseFeePerGas!, gas, balanceWei: await balanceWei() })
    if (!fees) throw new Error(`the wallet cannot pay for ${call.functionName}`)
    const hash = await node.writeContract({ ...call, gas, ...fees } as never)
    const receipt = await waitUntil(call.functionName, () =>
      node.getTransactionReceipt({ hash }).catch(() => undefined),
    )
    expect(receipt.status).toBe('success')
    expect(receipt.effectiveGasPrice).toBeGreaterThanOrEqual(leastBaseFeeWei)
    spentWei += receipt.gasUsed * receipt.effectiveGasPrice
    // Anvil charges the gas used, so the wallet gives the rest away, together with what that costs.
    const restWei = (gas - receipt.gasUsed) * receipt.effectiveGasPrice
    const price = { maxFeePerGas: receipt.effectiveGasPrice, maxPriorityFeePerGas: tipWei }
    const value = restWei - gasLimits.nativeTransfer * price.maxFeePerGas
    if (value < 0n) return
    const rest = await node.sendTransaction({ to: nobody, value, gas: gasLimits.nativeTransfer, ...price })
    await waitUntil('the rest to be given away', () =>
      node.getTransactionReceipt({ hash: rest }).catch(() => undefined),
    )
    spentWei += restWei
  }
  const line = (functionName: 'draw' | 'repay' | 'withdrawCollateral', args: readonly unknown[]) =>
    send({ address: terms.creditLine, abi: creditLineAbi, functionName, args }, BigInt(terms.gasLimits[functionName]))

  return {
    balanceWei,
    spentWei: () => spentWei,
    draw: (micro: bigint) => line('draw', [micro, account.address]),
    withdraw: (micro: bigint) => line('withdrawCollateral', [micro, account.address]),
    repay: async (micro: bigint) => {
      const approve = {
        address: terms.ausd.address,
        abi: erc20Abi,
        functionName: 'approve',
        args: [terms.creditLine, micro],
      } as const
      await send(approve, await node.estimateContractGas({ account, ...approve }))
      await line('repay', [micro])
    },
    sendAway: () => ledger.setBalance({ address: account.address, value: 0n }),
  }
}

type Wallet = Awaited<ReturnType<typeof openWallet>>
let wallet: Wallet

/** Draws 10 AUSD and repays the whole debt. */
async function cycle(number: number) {
  await wallet.draw(10_000_000n)
  const { drawn } = await person.until('the draw', (me) => BigInt(me.drawn) > 0n && me)
  await wallet.repay(BigInt(drawn))
  await person.until(`the end of cycle ${number}`, (me) => me.drawn === '0' && me.cycles === number)
}

/** Returns the refills that were given. Others that were asked for were not due. */
const refills = () =>
  query<{ cause: string; tx_hash: string }>(
    stack,
    `select cause, tx_hash from chain_relayer.operation
     where kind = 'drip' and cause <> wallet and tx_hash is not null and wallet = '${person.wallet}'`,
  )

describe('the first day of a borrower without native coin', () => {
  test('begins with a drip that pays for a cycle', async () => {
    await person.get('/me')
    await outsideOf(stack.info).identity(person.wallet, 'approved')
    await person.until('the drip', (me) => me.verified && me.balance.native === String(dripWei))
    wallet = await openWallet()
    await creditedTopUp(stack, person, { amount: '500000' })
  })

  test('goes on through a cycle and a withdrawal', async () => {
    await cycle(1)
    const { collateral } = await person.me()
    await wallet.withdraw(BigInt(collateral.value) / 3n)
    expect(wallet.spentWei()).toBeGreaterThan(dripWei - journeyWei)
  })

  test('goes on with a refill, which pays for a second cycle and the withdrawal of all collateral', async () => {
    const refilled = String(2n * dripWei - wallet.spentWei())
    await person.until('the refill', (me) => me.balance.native === refilled)
    await cycle(2)
    const { collateral } = await person.me()
    await wallet.withdraw(BigInt(collateral.value))
    const me = await person.until('the withdrawal', (seen) => seen.collateral.value === '0' && seen)
    expect(me).toMatchObject({ drawn: '0', cycles: 2 })
    expect(BigInt(me.balance.ausd)).toBeGreaterThan(0n)
  })

  test('has one refill, however often its owner sends the coin away and looks', async () => {
    await creditedTopUp(stack, person, { amount: '50000' })
    await wallet.sendAway()
    for (let looks = 0; looks < 5; looks++) await person.until('a look', (me) => me.balance.native === '0')
    await creditedTopUp(stack, person, { amount: '50000' }) // By then the relayer has had many rounds.
    expect(await refills()).toMatchObject([{ tx_hash: expect.stringMatching(/^0x/) }])
    expect(await wallet.balanceWei()).toBe(0n)
  })
})
