import {
  type Address,
  createWalletClient,
  type Hex,
  http,
  type LocalAccount,
  publicActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { bid } from '#infra/local/fees'
import type { StackFile } from '#infra/local/stack-file'
import { waitUntil } from '#infra/local/wait'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { type SignedTransfer, typedCancel } from '#shared/chain/erc3009'
import { openClient, signTransfer, type TransferTerms } from '#shared/client/client'
import { tryOnce } from '#shared/client/exchange'
import { openSession } from '#shared/client/session'

// biome-ignore lint/suspicious/noExplicitAny: answers are read by tests and the demo, field by field
export type Reply = { status: number; body: any; headers: Headers }

/** A user of the app: one key, the gateway, and the chain the way a wallet uses it. */
export type Person = ReturnType<typeof personOf>

/** Each direct action is sent with a fixed gas limit: the chain charges the limit, not what was used. */
const gas = 400_000n

/** `signer` is a private key, or an account that signs in its own way, as a contract wallet's does. */
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
  /** One try, and its answer as it came: for what a client of the interface would not say. */
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const answer = await tryOnce(place, {
      ...{ method, path },
      headers: { authorization: await session.header(), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if ('fault' in answer) throw answer.fault
    return answer
  }
  const get = (path: string) => call('GET', path)
  const post = (path: string, body: unknown) => call('POST', path, body)
  /** As an app does: 503 means the same request again in a moment, and it is safe to repeat. */
  const insist = (path: string, body: unknown) =>
    waitUntil(`an answer of ${path}`, async () => {
      const reply = await post(path, body)
      return reply.status !== 503 && reply
    })
  const write = async (
    address: string,
    abi: unknown,
    functionName: string,
    args: readonly unknown[],
  ) => {
    const request = {
      address: address as Address,
      abi: abi as typeof creditLineAbi,
      functionName,
      args,
      gas,
      ...(await bid(chain)),
    } as never
    const hash = await chain.writeContract(request)
    const receipt = await waitUntil(`${functionName} being mined`, () =>
      chain.getTransactionReceipt({ hash }).catch(() => undefined),
    )
    if (receipt.status !== 'success') throw new Error(`${functionName} reverted`)
    return receipt
  }
  return {
    account,
    wallet: account.address.toLowerCase() as Address,
    /** The interface as the app uses it. */
    api: openClient({ ...place, account }),
    call,
    get,
    post,
    /** What the service knows them by; nobody else may see it. */
    authorization: () => session.header(),
    insist,
    /** What `/me` shows; asked again while a service is being restarted. */
    me: () =>
      waitUntil('an answer of /me', async () => {
        const reply = await get('/me')
        return reply.status === 200 && reply.body
      }),
    quote: async (pair: 'USD/IDR' | 'USD/MYR') => (await insist('/quote', { pair })).body,
    sign: (terms: TransferTerms) => signTransfer(account, token, terms),
    draw: (micro: bigint) =>
      write(stack.chain.creditLine, creditLineAbi, 'draw', [micro, account.address]),
    /** Puts a signed transfer on the chain without the service, as anybody may. */
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
    /** Takes a signed transfer back on the chain; reverts when it was used before. */
    cancel: async ({ nonce }: SignedTransfer) => {
      const what = { authorizer: account.address, nonce }
      const signature = await account.signTypedData(typedCancel(token, what))
      const args = [account.address, nonce, signature] as const
      return write(stack.chain.ausd, ausdAbi, 'cancelAuthorization', args)
    },
    repay: async (micro: bigint) => {
      await write(stack.chain.ausd, ausdAbi, 'approve', [stack.chain.creditLine, micro])
      return write(stack.chain.creditLine, creditLineAbi, 'repay', [micro])
    },
    /** Polls `/me`, as the app does, until it shows what is awaited. */
    until: <T>(
      what: string,
      read: (me: Awaited<ReturnType<typeof get>>['body']) => T | undefined | false,
      deadlineMs?: number,
    ) => waitUntil(what, async () => read((await get('/me')).body), deadlineMs, 100),
  }
}
