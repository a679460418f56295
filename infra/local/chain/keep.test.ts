import { afterAll, describe, expect, test } from 'bun:test'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Hex, parseEther, parseGwei } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { localChainId } from '#infra/local/chain'
import { withoutEmptyBlocks } from '#infra/local/chain/snapshot'
import { startAnvil } from '#test/support/engines/anvil'
import {
  chainClient,
  type KeptChain,
  openKeptChain,
  receiptOf,
  richAccount,
  walletClient,
} from '#test/support/engines/kept-chain'
import { waitUntil } from '#test/support/wait'

/** Writes one log. */
const speak: Hex = '0x5f5fa05f5ff3'

describe('a chain that is killed', () => {
  test('a response shows no block that is not in the journal', async () => {
    await using kept = await openKeptChain()
    const { client } = kept
    const wallet = walletClient(kept.rpcUrl)
    const stop = new AbortController()
    const write = async () => {
      // Blocks with transactions take longer to keep.
      for (let nonce = 0; !stop.signal.aborted; nonce++)
        await wallet.sendTransaction({ to: richAccount.address, value: 1n, nonce, gas: 21_000n })
    }
    const writing = write()
    while ((await client.getBlockNumber()) < 15n) {
      const number = await client.getBlockNumber()
      expect(readFileSync(join(kept.dir, 'blocks.jsonl'), 'utf8')).toContain(`"number":${number},`)
    }
    stop.abort()
    await writing
  })

  test('an incomplete last line of the journal, as after a kill during a write, is dropped', async () => {
    await using kept = await openKeptChain()
    const { hash, number } = await kept.client.getBlock()
    await kept.stop('SIGKILL')
    appendFileSync(join(kept.dir, 'blocks.jsonl'), '{"number":9')
    await kept.kill('keeper')
    expect((await kept.client.getBlock({ blockNumber: number })).hash).toBe(hash)
    await kept.kill('both')
    expect((await kept.client.getBlock({ blockNumber: number })).hash).toBe(hash)
  })

  test('the draft of a snapshot, as after a kill during a save, is dropped', async () => {
    await using kept = await openKeptChain()
    const { hash, number } = await kept.client.getBlock()
    await kept.stop('SIGKILL')
    writeFileSync(join(kept.dir, 'snapshot.json.gz.draft'), 'half of it')
    await kept.kill('keeper')
    expect((await kept.client.getBlock({ blockNumber: number })).hash).toBe(hash)
    expect(existsSync(join(kept.dir, 'snapshot.json.gz.draft'))).toBe(false)
  })

  test('balances, code and the clock that were set without a transaction stay', async () => {
    await using kept = await openKeptChain()
    const { client } = kept
    const address = privateKeyToAccount(generatePrivateKey()).address
    await client.setBalance({ address, value: 5n })
    await kept.kill('both')
    await client.setCode({ address, bytecode: speak })
    await kept.kill('anvil')
    expect([await client.getBalance({ address }), await client.getCode({ address })]).toEqual([5n, speak])
    const { timestamp } = await client.getBlock()
    await client.increaseTime({ seconds: 86_400 })
    await client.mine({ blocks: 1 })
    await kept.kill('both')
    expect((await client.getBlock()).timestamp).toBeGreaterThanOrEqual(timestamp + 86_400n)
  })

  test('a block is the same again if one of its transactions was paid by an earlier one of it', async () => {
    await using kept = await openKeptChain()
    const { client } = kept
    const wallet = walletClient(kept.rpcUrl)
    /** Returns undefined if a block came between. */
    const paidWithin = async () => {
      const poor = privateKeyToAccount(generatePrivateKey())
      const send = async (nonce: number, value: bigint) => {
        const fees = { type: 'eip1559', chainId: localChainId, gas: 21_000n, maxFeePerGas: parseGwei('200') } as const
        const serializedTransaction = await poor.signTransaction({ ...fees, nonce, to: richAccount.address, value })
        return client.sendRawTransaction({ serializedTransaction })
      }
      await receiptOf(client, await wallet.sendTransaction({ to: poor.address, value: parseEther('1.1') }))
      // It waits for the nonce before it, and when that comes, the balance before their block is too low for it.
      const last = await send(2, parseEther('1'))
      await receiptOf(client, await send(0, parseEther('1')))
      const payment = await wallet.sendTransaction({ to: poor.address, value: parseEther('1') })
      await send(1, 1n)
      const [block, other] = [await receiptOf(client, last), await receiptOf(client, payment)]
      return block.blockHash === other.blockHash ? block : undefined
    }
    const { blockHash, blockNumber } = await waitUntil('all in one block', paidWithin)
    await kept.kill('both')
    expect((await client.getBlock({ blockNumber })).hash).toBe(blockHash)
  })

  test('the clock of a chain does not stand still while it is down', async () => {
    await using kept = await openKeptChain()
    const { timestamp } = await kept.client.getBlock()
    await kept.stop('SIGKILL')
    await waitUntil('some seconds', () => Date.now() / 1_000 > Number(timestamp) + 3)
    const downUntil = Math.floor(Date.now() / 1_000)
    await kept.kill('keeper')
    expect(Number((await kept.client.getBlock()).timestamp)).toBeGreaterThanOrEqual(downUntil)
  })

  test('readers of a restored chain find the state of its final block at once', async () => {
    await using kept = await openKeptChain()
    const { address } = richAccount
    // Its snapshot is of the latest block, and no block is executed again.
    await kept.client.setBalance({ address, value: 5n })
    await kept.kill('both')
    expect(await kept.client.getBalance({ address, blockTag: 'finalized' })).toBe(5n)
  })
})

describe('a chain that is stopped', () => {
  test('a chain that is stopped in order continues with the same blocks', async () => {
    await using kept = await openKeptChain()
    const hash = await walletClient(kept.rpcUrl).sendTransaction({ data: speak })
    const { blockHash } = await receiptOf(kept.client, hash)
    await kept.stop()
    kept.start()
    await kept.untilOpen()
    expect((await kept.client.getTransactionReceipt({ hash })).blockHash).toBe(blockHash)
  })

  test.each([
    ['a snapshot', 'snapshot.json.gz', (content: Buffer) => content.subarray(0, content.length / 2)],
    ['a journal', 'blocks.jsonl', (content: Buffer) => content.toString().replace('{', '')],
    [
      'a journal of other blocks',
      'blocks.jsonl',
      (content: Buffer) => content.toString().replace('"hash":"0x', '"hash":"0xf'),
    ],
  ] as const)('%s that is damaged ends the keeper, which gives the reason', async (_, file, damage) => {
    await using kept = await openKeptChain()
    await waitUntil('blocks', async () => (await kept.client.getBlockNumber()) > 3n)
    await kept.stop()
    const path = join(kept.dir, file)
    writeFileSync(path, damage(readFileSync(path)))
    expect(await kept.start().exited).toBe('exit 1')
    expect(kept.log()).toContain('the saved chain is damaged')
  })
})

describe('requests', () => {
  test.each(['anvil_reset', 'evm_revert', 'anvil_impersonateAccount', 'anvil_rollback', 'evm_setIntervalMining'])(
    '%s is refused, because it would change blocks that were shown',
    async (method) => {
      const { client } = await shared()
      const request = client.request as (ask: { method: string; params: unknown[] }) => Promise<unknown>
      await expect(request({ method, params: [] })).rejects.toThrow('keeps its blocks')
    },
  )

  test('a batch of requests gets a batch of responses, also if it is refused', async () => {
    const { rpcUrl } = await shared()
    const ask = async (...methods: string[]) => {
      const asks = methods.map((method, id) => ({ jsonrpc: '2.0', id, method, params: [] }))
      const headers = { 'content-type': 'application/json' }
      return (await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(asks) })).json()
    }
    expect(await ask('eth_chainId', 'net_version')).toMatchObject([{ id: 0, result: '0x279f' }, { id: 1 }])
    expect(await ask('eth_chainId', 'anvil_reset')).toMatchObject([{ error: {} }, { error: { code: -32_601 } }])
  })

  test('a page of another origin may call the chain', async () => {
    const { rpcUrl } = await shared()
    const headers = {
      origin: 'http://127.0.0.1:3100',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    }
    const answer = await fetch(rpcUrl, { method: 'OPTIONS', headers })
    expect(answer.ok).toBe(true)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  let opened: Promise<KeptChain> | undefined
  const shared = () => {
    opened ??= openKeptChain()
    return opened
  }
  afterAll(async () => (await opened)?.[Symbol.asyncDispose]())
})

test('only old empty blocks are left out of a snapshot', async () => {
  await using node = await startAnvil(['--block-time', '0.1'])
  const client = chainClient(node.rpcUrl)
  await walletClient(node.rpcUrl).sendTransaction({ data: speak })
  await waitUntil('blocks', async () => (await client.getBlockNumber()) > 20n)
  const dump = await client.dumpState()
  const state = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(Buffer.from(dump.slice(2), 'hex'))))
  const less = withoutEmptyBlocks(state, 5)
  expect(less.blocks).toHaveLength(1 + 1 + 5)
  const before = { logs: await client.getLogs({ fromBlock: 0n }), first: await client.getBlock({ blockNumber: 0n }) }
  await using other = await startAnvil()
  const loaded = chainClient(other.rpcUrl)
  await loaded.loadState({ state: `0x${Buffer.from(Bun.gzipSync(JSON.stringify(less))).toString('hex')}` })
  expect({ logs: await loaded.getLogs({ fromBlock: 0n }), first: await loaded.getBlock({ blockNumber: 0n }) }).toEqual(
    before,
  )
})
