import { LRUCache } from 'lru-cache'
import { BaseError, decodeFunctionResult, encodeFunctionData, type Hex, multicall3Abi } from 'viem'
import { steadyClock } from '#platform/clock'
import { pause } from '#platform/deadline'
import { multicall3 } from './multicall'
import { type Node, openNodeForQuestions } from './node'

export type ContractSignature = {
  readonly signer: Hex
  readonly digest: Hex
  readonly signature: Hex
}

/** Result of `isValidSignature` for a valid signature (https://eips.ethereum.org/EIPS/eip-1271). */
const acceptedMagic = '0x1626ba7e'.padEnd(66, '0')
const signatureAbi = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ name: 'magicValue', type: 'bytes4' }],
  },
] as const
const dataOf = ({ digest, signature }: ContractSignature): Hex =>
  encodeFunctionData({
    abi: signatureAbi,
    functionName: 'isValidSignature',
    args: [digest, signature],
  })

/** Gas per check: enough for a contract wallet, too little to load an endpoint. */
const checkGas = 1_000_000n

async function isAccepted(node: Pick<Node, 'call'>, asked: ContractSignature): Promise<boolean> {
  const call = { to: asked.signer, data: dataOf(asked), gas: checkGas }
  const answer = await node.call(call, 'latest')
  return 'returned' in answer && answer.returned === acceptedMagic
}

/** Most checks and bytes per call, because public endpoints limit both. */
const checksMax = 40
const bytesMax = 12_288
/** Gas per shared call; a contract wallet uses 10,000 to 300,000. */
const multicallGas = 5_000_000n
const everyMsMin = 500
const shareOfBudget = 0.2
/** Longest wait for a check, in ms, because callers stop waiting soon after. */
const patienceMs = 1_500
const waitingMax = 400
/** How long an address is remembered as having no code, in ms. Its owner needs longer than this to deploy a wallet. */
const codelessMs = 30_000

type WaitingSignature = ContractSignature & {
  readonly until: number
  readonly resolve: (accepted: boolean) => void
  readonly reject: (error: unknown) => void
}

/**
 * Verifies signatures of strangers, who can claim any address at no cost. It makes at most two calls a second, each for
 * as many waiting signatures as fit, the shortest first. A check that fails is repeated alone, because another wallet's
 * code may have used up the gas; these repeats alternate with the shared calls. Throws viem's `BaseError` if a check
 * cannot be made in time.
 */
export function openContractSignatures(options: {
  node: Pick<Node, 'call'>
  ethCallsPerSecond: number
}): (asked: ContractSignature) => Promise<boolean> {
  const { node, ethCallsPerSecond } = options
  const everyMs = Math.max(everyMsMin, 1_000 / (ethCallsPerSecond * shareOfBudget))
  const codeless = new LRUCache<Hex, true>({ max: 10_000, ttl: codelessMs })
  let fresh: WaitingSignature[] = []
  const halves: WaitingSignature[][] = []
  const doubtful: WaitingSignature[] = []
  let isRunning = false
  let isAloneNext = false
  let notBefore = 0

  const nextChecks = (): WaitingSignature[] => {
    const others = halves.length > 0 || fresh.length > 0
    const alone = doubtful.length > 0 && (isAloneNext || !others)
    isAloneNext = !alone
    if (alone) return doubtful.splice(0, 1)
    const half = halves.shift()
    if (half) return half
    // Short signatures come first, so that a few long ones cannot take the place of many.
    fresh.sort((one, other) => one.signature.length - other.signature.length)
    let [count, bytes] = [0, 0]
    for (const { signature } of fresh.slice(0, checksMax)) {
      bytes += signature.length / 2
      if (count > 0 && bytes > bytesMax) break
      count++
    }
    const checks = fresh.slice(0, count)
    fresh = fresh.slice(count)
    return checks
  }

  const checkAll = async (checks: readonly WaitingSignature[]): Promise<void> => {
    const answer = await node.call({ to: multicall3, data: multicallData(checks), gas: multicallGas }, 'latest')
    if ('reverted' in answer) {
      const middle = Math.ceil(checks.length / 2)
      halves.push(checks.slice(0, middle), checks.slice(middle))
      return
    }
    const results = decodeFunctionResult({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      data: answer.returned,
    })
    const areSound = results.every(({ success }) => success)
    for (const [at, check] of checks.entries()) {
      const { success, returnData } = results[at]!
      if (success && returnData === '0x') codeless.set(check.signer, true)
      const isSure = success && (areSound || returnData === '0x' || returnData === acceptedMagic)
      if (isSure) check.resolve(returnData === acceptedMagic)
      else doubtful.push(check)
    }
  }

  const check = async (checks: readonly WaitingSignature[]): Promise<void> => {
    try {
      const [only, another] = checks
      if (only && !another) only.resolve(await isAccepted(node, only))
      else await checkAll(checks)
    } catch (error) {
      for (const { reject } of checks) reject(error)
    }
  }

  const run = async (): Promise<void> => {
    isRunning = true
    while (fresh.length + halves.length + doubtful.length > 0) {
      await pause(Math.max(1, notBefore - steadyClock())) // More checks can arrive during this pause.
      const checks = nextChecks()
      const inTime = checks.filter(({ until }) => until > steadyClock())
      for (const late of checks) if (!inTime.includes(late)) late.reject(busy())
      if (inTime.length === 0) continue
      notBefore = steadyClock() + everyMs
      await check(inTime)
    }
    isRunning = false
  }

  return async (asked) => {
    if (codeless.has(asked.signer)) return false
    if (fresh.length >= waitingMax) throw busy()
    return new Promise((resolve, reject) => {
      fresh.push({ ...asked, until: steadyClock() + patienceMs, resolve, reject })
      if (!isRunning) void run()
    })
  }
}

export const openStrangerSignatures = ({
  rpcEthCallsPerSecond: ethCallsPerSecond,
  ...chain
}: Parameters<typeof openNodeForQuestions>[0] & { readonly rpcEthCallsPerSecond: number }) =>
  openContractSignatures({ node: openNodeForQuestions(chain, 'stranger'), ethCallsPerSecond })

const busy = () => new BaseError('too many signatures of contract wallets are waiting')

const multicallData = (checks: readonly ContractSignature[]): Hex =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [
      checks.map((check) => ({
        target: check.signer,
        allowFailure: true,
        callData: dataOf(check),
      })),
    ],
  })
