import { type Address, createWalletClient, type Hex, http, type LocalAccount, maxUint256, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { feeBid } from '#infra/local/fee-bid'
import type { StackFile } from '#infra/local/stack-file'
import { waitUntil } from '#infra/local/wait'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { type SignedTransfer, typedCancel } from '#shared/chain/erc3009'
import { openClient, signTransfer, type TransferTerms } from '#shared/client/client'
import { tryOnce } from '#shared/client/exchange'
import { openSession } from '#shared/client/session'

// biome-ignore lint/suspicious/noExplicitAny: replies are read field by field
export type Reply = { status: number; body: any; headers: Headers }

export type Person = ReturnType<typeof personOf>

/** Gas limit of every transaction. The chain charges the limit, not the gas used. */
const gas = 400_000n

/** Opens a user of the stack. `signer` is a private key, or an account that signs its own way (contract wallets). */
export function personOf(stack: StackFile, signer: Hex | LocalAccount) {
  const account = typeof signer === 'string' ? privateKeyToAccount(signer) : signer
  const chain = createWalletClient({
    account,
    chain: chainOf(stack.chain.chainId),
    transport: http(stack.chain.rpcUrl),
  }).extend(publicActions)
  const place = { baseUrl: stack.gateway }
  const session = openSession(account)
  const token = {
    name: 'Agora Dollar',
    version: '1',
    chainId: stack.chain.chainId,
    verifyingContract: stack.chain.ausd as Address,
  }
  /** Returns the raw reply, including replies that the client would hide. */
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const answer = await tryOnce(place, {
      method,
      path,
      headers: { authorization: await session.header(), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if ('fault' in answer) throw answer.fault
    return answer
  }
  const get = (path: string) => call('GET', path)
  const post = (path: string, body: unknown) => call('POST', path, body)
  /** Repeats a request that gets 503, which is safe. */
  const insist = (path: string, body: unknown) =>
    waitUntil(`a response from ${path}`, async () => {
      const reply = await post(path, body)
      return reply.status !== 503 && reply
    })
  const write = async (address: string, abi: unknown, functionName: string, args: readonly unknown[]) => {
    const request = {
      address: address as Address,
      abi: abi as typeof creditLineAbi,
      functionName,
      args,
      gas,
      ...(await feeBid(chain)),
    } as never
    const hash = await chain.writeContract(request)
    const receipt = await waitUntil(`${functionName} to be mined`, () =>
      chain.getTransactionReceipt({ hash }).catch(() => undefined),
    )
    if (receipt.status !== 'success') throw new Error(`${functionName} reverted`)
    return receipt
  }
  const creditLine = stack.chain.creditLine as Address
  const allowance = () =>
    chain.readContract({
      address: stack.chain.ausd as Address,
      abi: ausdAbi,
      functionName: 'allowance',
      args: [account.address, creditLine],
    })
  const approve = (micro: bigint) => write(stack.chain.ausd, ausdAbi, 'approve', [creditLine, micro])
  return {
    account,
    wallet: account.address.toLowerCase() as Address,
    api: openClient({ ...place, account }),
    call,
    get,
    post,
    /** Returns the Authorization header, which is a secret. */
    authorization: () => session.header(),
    insist,
    me: () =>
      waitUntil('a response from /me', async () => {
        const reply = await get('/me')
        return reply.status === 200 && reply.body
      }),
    quote: async (pair: 'USD/IDR' | 'USD/MYR') => (await insist('/quote', { pair })).body,
    /** Signs a transfer. Its validity follows the chain's clock, which the sandbox may have moved ahead. */
    sign: async ({ validForSeconds = 3_600, ...terms }: TransferTerms) => {
      const { timestamp } = await chain.getBlock()
      const now = BigInt(Math.max(Math.floor(Date.now() / 1_000), Number(timestamp)))
      return signTransfer(account, token, {
        validBefore: now + BigInt(validForSeconds),
        ...terms,
      })
    },
    draw: (micro: bigint) => write(stack.chain.creditLine, creditLineAbi, 'draw', [micro, account.address]),
    /** Submits a signed transfer without the service, as anyone may. */
    submit: (transfer: SignedTransfer) =>
      write(stack.chain.ausd, ausdAbi, 'transferWithAuthorization', [
        transfer.from,
        transfer.to,
        BigInt(transfer.value),
        BigInt(transfer.validAfter),
        BigInt(transfer.validBefore),
        transfer.nonce,
        transfer.signature,
      ]),
    /** Cancels a transfer. Reverts if the transfer was used before. */
    cancel: async ({ nonce }: SignedTransfer) => {
      const what = { authorizer: account.address, nonce }
      const signature = await account.signTypedData(typedCancel(token, what))
      const args = [account.address, nonce, signature] as const
      return write(stack.chain.ausd, ausdAbi, 'cancelAuthorization', args)
    },
    /** Lets the credit line take AUSD of the wallet, in place of what it was let before. */
    approve,
    /** Repays from the wallet. A larger allowance, by which a debt is repaid automatically, stays. */
    repay: async (micro: bigint) => {
      if ((await allowance()) < micro) await approve(micro)
      return write(stack.chain.creditLine, creditLineAbi, 'repay', [micro])
    },
    /** Allows automatic repayments of up to `maxPerCycle` (10⁻⁶ AUSD) in each cycle; 0 ends them. */
    setAutoRepay: async (maxPerCycle: bigint, source: 'wallet' | 'collateral') => {
      if (source === 'wallet' && (await allowance()) < maxPerCycle) await approve(maxUint256)
      const args = [maxPerCycle, source === 'collateral'] as const
      return write(stack.chain.creditLine, creditLineAbi, 'setAutoRepay', args)
    },
    until: <T>(
      what: string,
      read: (me: Awaited<ReturnType<typeof get>>['body']) => T | undefined | false,
      deadlineMs?: number,
    ) => waitUntil(what, async () => read((await get('/me')).body), deadlineMs),
  }
}
