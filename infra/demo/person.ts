import {
  type Address,
  createWalletClient,
  type Hex,
  http,
  type LocalAccount,
  publicActions,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { signIn } from '#infra/demo/session'
import { signTransfer, type TransferTerms } from '#infra/demo/transfer'
import { bid } from '#infra/local/fees'
import type { StackFile } from '#infra/local/stack-file'
import { waitUntil } from '#infra/local/wait'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { chainOf } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import type { SignedTransfer } from '#shared/chain/erc3009'

// biome-ignore lint/suspicious/noExplicitAny: answers are read by tests and the demo, field by field
export type Reply = { status: number; body: any; headers: Headers }

/** A user of the app: one key, the gateway, and the chain the way a wallet uses it. */
export type Person = ReturnType<typeof personOf>

const day = 86_400
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
  let session: Promise<string> | undefined
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    session ??= signIn(account, Math.floor(Date.now() / 1000) + day)
    const answer = await fetch(`${stack.gateway}${path}`, {
      method,
      headers: {
        Authorization: await session,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(15_000),
    })
    return { status: answer.status, body: await answer.json(), headers: answer.headers }
  }
  const get = (path: string) => call('GET', path)
  const post = (path: string, body: unknown) => call('POST', path, body)
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
    call,
    get,
    post,
    /** As an app does: 503 means the same request again in a moment, and it is safe to repeat. */
    insist: (path: string, body: unknown) =>
      waitUntil(`an answer of ${path}`, async () => {
        const reply = await post(path, body)
        return reply.status !== 503 && reply
      }),
    /** What `/me` shows; asked again while a service is being restarted. */
    me: () =>
      waitUntil('an answer of /me', async () => {
        const reply = await get('/me')
        return reply.status === 200 && reply.body
      }),
    quote: async (pair: 'USD/IDR' | 'USD/MYR') => (await post('/quote', { pair })).body,
    sign: (terms: Omit<TransferTerms, 'token' | 'chainId'>) =>
      signTransfer(account, {
        token: stack.chain.ausd as Address,
        chainId: stack.chain.chainId,
        ...terms,
      }),
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
