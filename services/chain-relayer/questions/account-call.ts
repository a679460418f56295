import {
  type AbiFunction,
  BaseError,
  type ContractFunctionReturnType,
  getAbiItem,
  type Hex,
  toFunctionSelector,
} from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { multicall3 } from '../chain/multicall'

// Every `GET /me` waits for this call. viem's codec takes 0.3 ms per wallet, this one a twentieth of that. A test
// compares the two.

export type LineState = ContractFunctionReturnType<typeof creditLineAbi, 'view', 'accountOf'>
export type WalletRead = {
  readonly line: LineState
  readonly ausdMicro: bigint
  readonly nativeWei: bigint
  /** Null if the contract is too old to have it. */
  readonly autoRepay: AutoRepayRead | null
}
type AutoRepayRead = {
  readonly maxPerCycle: bigint
  readonly fromCollateral: boolean
  readonly taken: bigint
  readonly startsAt: bigint
}
/** Totals that determine the value of a share. */
export type Pool = { readonly collateralMicro: bigint; readonly shares: bigint }

const accountOf = getAbiItem({ abi: creditLineAbi, name: 'accountOf' }) as AbiFunction
/** Fields of the account, a struct of integers and booleans of one word each. */
const [{ components: fields }] = accountOf.outputs as unknown as [
  { components: readonly { name: string; type: string }[] },
]
if (fields.some(({ type }) => type !== 'bool' && !/^uint\d+$/.test(type)))
  throw new Error('accountOf returns other types than uint and bool: adapt the decoder')

const selectors = {
  aggregate3: toFunctionSelector('aggregate3((address,bool,bytes)[])').slice(2),
  accountOf: toFunctionSelector(accountOf).slice(2),
  balanceOf: toFunctionSelector(getAbiItem({ abi: ausdAbi, name: 'balanceOf' })).slice(2),
  ethBalance: toFunctionSelector('getEthBalance(address)').slice(2),
  autoRepayOf: toFunctionSelector(getAbiItem({ abi: creditLineAbi, name: 'autoRepayOf' }) as AbiFunction).slice(2),
  blockNumber: toFunctionSelector('getBlockNumber()').slice(2),
  blockTime: toFunctionSelector('getCurrentBlockTimestamp()').slice(2),
  totalCollateral: toFunctionSelector('totalCollateral()').slice(2),
  totalShares: toFunctionSelector('totalShares()').slice(2),
  paused: toFunctionSelector('paused()').slice(2),
}

const word = (value: number) => value.toString(16).padStart(64, '0')
const wordOf = (address: Hex) => address.slice(2).toLowerCase().padStart(64, '0')
const wordBytes = 32
const callsPerWallet = 4
/** Calls per read besides those per wallet: block number and time, the pool (two calls), and the pause. */
const callsPerRead = 5

/** Encodes one call for several wallets. Each wallet's calls may fail without failing the others. */
export function encodeAccountCall(
  { ausd, creditLine }: { readonly ausd: Hex; readonly creditLine: Hex },
  wallets: readonly Hex[],
): Hex {
  const call = (target: Hex, data: string, padding: number, mayFail: boolean) =>
    wordOf(target) +
    word(Number(mayFail)) +
    word(3 * wordBytes) +
    word(data.length / 2) +
    data +
    '0'.repeat(2 * padding)
  const withWallet = (target: Hex, selector: string, wallet: Hex) =>
    call(target, selector + wordOf(wallet), wordBytes - 4, true)
  const calls = wallets.flatMap((wallet) => [
    withWallet(creditLine, selectors.accountOf, wallet),
    withWallet(ausd, selectors.balanceOf, wallet),
    withWallet(multicall3, selectors.ethBalance, wallet),
    withWallet(creditLine, selectors.autoRepayOf, wallet),
  ])
  const plain = (target: Hex, selector: string) => call(target, selector, wordBytes - 4, false)
  calls.push(plain(multicall3, selectors.blockNumber), plain(multicall3, selectors.blockTime))
  calls.push(plain(creditLine, selectors.totalCollateral), plain(creditLine, selectors.totalShares))
  calls.push(plain(creditLine, selectors.paused))
  let next = calls.length * wordBytes
  const offsets = calls.map((one) => {
    const offset = next
    next += one.length / 2
    return word(offset)
  })
  const head = selectors.aggregate3 + word(wordBytes) + word(calls.length)
  return `0x${head}${offsets.join('')}${calls.join('')}`
}

/** Decodes the result. A wallet is undefined if a call failed that every contract has. */
export function decodeAccountCall(answer: Hex | undefined, wallets: number) {
  const own = wallets * callsPerWallet
  const results = own + callsPerRead
  const words = (at: number, count = 1) => answer!.slice(2 + 64 * at, 2 + 64 * (at + count))
  const numberAt = (at: number) => Number(`0x${words(at)}`)
  if (!answer || answer.length < 2 + 64 * 2 || numberAt(1) !== results)
    throw new BaseError('unexpected multicall response')
  /** Returns the index of the first data word, which follows success, offset and length. */
  const dataOf = (result: number, length: number) => {
    const at = 2 + numberAt(2 + result) / wordBytes
    if (numberAt(at + 2) !== length * wordBytes) throw new BaseError('unexpected result in multicall response')
    return at + 3
  }
  const hasFailed = (result: number) => numberAt(2 + numberAt(2 + result) / wordBytes) === 0
  const uint = (at: number) => BigInt(`0x${words(at)}`)
  const lineAt = (at: number) =>
    Object.fromEntries(
      fields.map(({ name, type }, field) => [name, type === 'bool' ? uint(at + field) === 1n : uint(at + field)]),
    ) as unknown as LineState
  const autoRepayAt = (at: number): AutoRepayRead => ({
    maxPerCycle: uint(at),
    fromCollateral: uint(at + 1) === 1n,
    taken: uint(at + 2),
    startsAt: uint(at + 3),
  })
  const reads = Array.from({ length: wallets }, (_, wallet): WalletRead | undefined => {
    const first = wallet * callsPerWallet
    if ([0, 1, 2].some((call) => hasFailed(first + call))) return undefined
    return {
      line: lineAt(dataOf(first, fields.length)),
      ausdMicro: uint(dataOf(first + 1, 1)),
      nativeWei: uint(dataOf(first + 2, 1)),
      autoRepay: hasFailed(first + 3) ? null : autoRepayAt(dataOf(first + 3, 4)),
    }
  })
  const [blockNumber, blockTime, collateralMicro, shares, paused] = [0, 1, 2, 3, 4].map((call) =>
    uint(dataOf(own + call, 1)),
  ) as [bigint, bigint, bigint, bigint, bigint]
  const pool = { collateralMicro, shares }
  return { reads, blockNumber, blockTime, pool, paused: paused === 1n }
}
