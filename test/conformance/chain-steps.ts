import { createPublicClient, type Hex, http, numberToHex } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { findBatches } from '#shared/chain/batches'
import { chainOf, openChainReader } from '#shared/chain/client'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { gasLimits } from '#shared/chain/gas'
import type { Log } from '#shared/log'
import { textOf, verdictOnSend } from '../../services/chain-relayer/chain/errors'
import type { Step } from './step'

/** One JSON-RPC endpoint, and the token that the services move there. */
export type ChainBench = {
  readonly url: string
  readonly chainId: number
  readonly ausd: Hex
  readonly log: Log
}

/** So many blocks of logs are asked for at once; public endpoints of Monad answer no more. */
const logBlocks = 100n
const nobody = `0x${'0'.repeat(38)}aa` as const

/** What relayer and reader ask of an endpoint, as they ask it. Nothing is sent that could be mined. */
export function chainSteps({ url, chainId, ausd, log }: ChainBench): Step[] {
  const endpoints = openRpcEndpoints({ rpcUrls: [url] })
  const reader = openChainReader({ endpoints, chainId })
  const direct = createPublicClient({
    chain: chainOf(chainId),
    transport: http(url, { retryCount: 0 }),
  })
  const token = { address: ausd, abi: ausdAbi } as const
  return [
    {
      name: 'it is on the chain that is meant',
      expected: String(chainId),
      see: async () => String(await reader.getChainId()),
    },
    {
      name: 'it says which block is final, and that is no newer than the newest',
      expected: 'final',
      see: async () => {
        const final = await reader.getBlock({ blockTag: 'finalized' })
        const newest = await reader.getBlock({ blockTag: 'latest' })
        return final.number <= newest.number ? 'final' : `${final.number} after ${newest.number}`
      },
    },
    {
      name: 'it answers the logs of a hundred blocks',
      expected: 'answered',
      see: async () => {
        const { number: to } = await reader.getBlock({ blockTag: 'finalized' })
        const from = to >= logBlocks ? to - logBlocks + 1n : 0n
        const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) }
        await reader.request({ method: 'eth_getLogs', params: [{ address: ausd, ...range }] })
        return 'answered'
      },
    },
    {
      name: 'it says whether it takes batches',
      expected: 'it says so',
      fact: 'rpc-batches',
      see: async () => {
        await findBatches(endpoints, log)
        return endpoints.all[0]!.takesBatches === undefined ? 'nobody knows' : 'it says so'
      },
    },
    {
      name: 'AUSD says whether its issuer has paused it or frozen somebody',
      expected: 'it says so',
      fact: 'ausd-switches',
      see: async () => {
        await Promise.all([
          reader.readContract({ ...token, functionName: 'isTransferPaused' }),
          reader.readContract({ ...token, functionName: 'isSignatureVerificationPaused' }),
          reader.readContract({ ...token, functionName: 'isAccountFrozen', args: [nobody] }),
        ])
        return 'it says so'
      },
    },
    {
      name: 'a plain payment takes the gas that it is sent with',
      expected: `${gasLimits.nativeTransfer} gas`,
      fact: 'gas-limits',
      see: async () =>
        `${await direct.estimateGas({ account: nobody, to: nobody, value: 0n })} gas`,
    },
    {
      name: 'bytes that are no transaction are refused in words we know',
      expected: 'refused',
      fact: 'pool-texts',
      see: async () => {
        const send = direct.request({ method: 'eth_sendRawTransaction', params: ['0x02'] })
        return verdictOnSend(await send.then(() => null).catch(textOf))
      },
    },
  ]
}
