import { createPublicClient, type Hex, http, numberToHex } from 'viem'
import type { Log } from '#platform/log'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { findBatches } from '#shared/chain/batches'
import { chainOf, openChainReader } from '#shared/chain/client'
import { openRpcEndpoints } from '#shared/chain/endpoints'
import { gasLimits } from '#shared/chain/gas'
import { errorTextOf, verdictOnSend } from '../../services/chain-relayer/chain/errors'
import type { Step } from './step'

export type ChainBench = {
  readonly url: string
  readonly chainId: number
  readonly ausd: Hex
  readonly log: Log
}

/** Blocks per log query: Monad's public endpoints return no more. */
const logBlocks = 100n
const nobody = `0x${'0'.repeat(38)}aa` as const

/** Returns steps with the requests of relayer and reader. They send no transaction that could be mined. */
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
      name: 'the endpoint is on the configured chain',
      expected: String(chainId),
      see: async () => String(await reader.getChainId()),
    },
    {
      name: 'the final block is not newer than the newest',
      expected: 'final',
      see: async () => {
        const final = await reader.getBlock({ blockTag: 'finalized' })
        const newest = await reader.getBlock({ blockTag: 'latest' })
        return final.number <= newest.number ? 'final' : `${final.number} after ${newest.number}`
      },
    },
    {
      name: 'logs of 100 blocks are returned',
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
      name: 'batch support is detected',
      expected: 'detected',
      fact: 'rpc-batches',
      see: async () => {
        await findBatches(endpoints, log)
        return endpoints.all[0]!.takesBatches === undefined ? 'unknown' : 'detected'
      },
    },
    {
      name: "AUSD has the issuer's pause and freeze functions",
      expected: 'detected',
      fact: 'ausd-switches',
      see: async () => {
        await Promise.all([
          reader.readContract({ ...token, functionName: 'isTransferPaused' }),
          reader.readContract({ ...token, functionName: 'isSignatureVerificationPaused' }),
          reader.readContract({ ...token, functionName: 'isAccountFrozen', args: [nobody] }),
          reader.readContract({ ...token, functionName: 'isMsgSenderFrozenCheckEnabled' }),
        ])
        return 'detected'
      },
    },
    {
      name: 'a native transfer needs the configured gas',
      expected: `${gasLimits.nativeTransfer} gas`,
      fact: 'gas-limits',
      see: async () => `${await direct.estimateGas({ account: nobody, to: nobody, value: 0n })} gas`,
    },
    {
      name: 'bytes that are no transaction are refused with a known error',
      expected: 'refused',
      fact: 'pool-texts',
      see: async () => {
        const send = direct.request({ method: 'eth_sendRawTransaction', params: ['0x02'] })
        return verdictOnSend(await send.then(() => null).catch(errorTextOf))
      },
    },
  ]
}
