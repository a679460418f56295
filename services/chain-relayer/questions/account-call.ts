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

// The one call that reads wallets, and what its answer says. Written out by words of 32 bytes,
// because everybody's `GET /me` waits for it: viem's coder takes 0.3 ms a wallet, this a twentieth
// of that (measured). A suite holds that both say and read the same.

/** What the credit line says of a wallet. */
export type Line = ContractFunctionReturnType<typeof creditLineAbi, 'view', 'accountOf'>
/** What is read of a wallet. */
export type Read = { readonly line: Line; readonly ausdMicro: bigint; readonly nativeWei: bigint }
/** The collateral of all accounts, which says what a share is worth. */
export type Pool = { readonly collateralMicro: bigint; readonly shares: bigint }

const accountOf = getAbiItem({ abi: creditLineAbi, name: 'accountOf' }) as AbiFunction
/** Its one output is a struct of whole numbers and flags: one word each, in this order. */
const [{ components: fields }] = accountOf.outputs as unknown as [
  { components: readonly { name: string; type: string }[] },
]
if (fields.some(({ type }) => type !== 'bool' && !/^uint\d+$/.test(type)))
  throw new Error('accountOf answers more than numbers and flags: read it another way')

const selectors = {
  aggregate3: toFunctionSelector('aggregate3((address,bool,bytes)[])').slice(2),
  accountOf: toFunctionSelector(accountOf).slice(2),
  balanceOf: toFunctionSelector(getAbiItem({ abi: ausdAbi, name: 'balanceOf' })).slice(2),
  ethBalance: toFunctionSelector('getEthBalance(address)').slice(2),
  blockNumber: toFunctionSelector('getBlockNumber()').slice(2),
  totalCollateral: toFunctionSelector('totalCollateral()').slice(2),
  totalShares: toFunctionSelector('totalShares()').slice(2),
}

const word = (value: number) => value.toString(16).padStart(64, '0')
const wordOf = (address: Hex) => address.slice(2).toLowerCase().padStart(64, '0')
const wordBytes = 32
const callsPerWallet = 3
/** Of all wallets together, after their own: the number of the block, and the pool. */
const callsTogether = 3

/** The data of `aggregate3`: three calls for each wallet, then those of all together. */
export function encodeReads(
  { ausd, creditLine }: { readonly ausd: Hex; readonly creditLine: Hex },
  wallets: readonly Hex[],
): Hex {
  const call = (target: Hex, data: string, padding: number) =>
    wordOf(target) +
    word(0) +
    word(3 * wordBytes) +
    word(data.length / 2) +
    data +
    '0'.repeat(2 * padding)
  const withWallet = (target: Hex, selector: string, wallet: Hex) =>
    call(target, selector + wordOf(wallet), wordBytes - 4)
  const calls = wallets.flatMap((wallet) => [
    withWallet(creditLine, selectors.accountOf, wallet),
    withWallet(ausd, selectors.balanceOf, wallet),
    withWallet(multicall3, selectors.ethBalance, wallet),
  ])
  const plain = (target: Hex, selector: string) => call(target, selector, wordBytes - 4)
  calls.push(plain(multicall3, selectors.blockNumber))
  calls.push(plain(creditLine, selectors.totalCollateral), plain(creditLine, selectors.totalShares))
  let next = calls.length * wordBytes
  const offsets = calls.map((one) => {
    const offset = next
    next += one.length / 2
    return word(offset)
  })
  const head = selectors.aggregate3 + word(wordBytes) + word(calls.length)
  return `0x${head}${offsets.join('')}${calls.join('')}`
}

/** What `aggregate3` answered to `encodeReads`; throws when it is of another form. */
export function decodeReads(answer: Hex | undefined, wallets: number) {
  const own = wallets * callsPerWallet
  const results = own + callsTogether
  const words = (at: number, count = 1) => answer!.slice(2 + 64 * at, 2 + 64 * (at + count))
  const numberAt = (at: number) => Number(`0x${words(at)}`)
  if (!answer || answer.length < 2 + 64 * 2 || numberAt(1) !== results)
    throw new BaseError('the multicall answered in another form')
  /** Where the data of a result begin, after success, their place and their length. */
  const dataOf = (result: number, length: number) => {
    const at = 2 + numberAt(2 + result) / wordBytes
    if (numberAt(at + 2) !== length * wordBytes)
      throw new BaseError('a call of the multicall answered in another form')
    return at + 3
  }
  const uint = (at: number) => BigInt(`0x${words(at)}`)
  const lineAt = (at: number) =>
    Object.fromEntries(
      fields.map(({ name, type }, field) => [
        name,
        type === 'bool' ? uint(at + field) === 1n : uint(at + field),
      ]),
    ) as unknown as Line
  const reads = Array.from({ length: wallets }, (_, wallet): Read => {
    const first = wallet * callsPerWallet
    return {
      line: lineAt(dataOf(first, fields.length)),
      ausdMicro: uint(dataOf(first + 1, 1)),
      nativeWei: uint(dataOf(first + 2, 1)),
    }
  })
  const pool = { collateralMicro: uint(dataOf(own + 1, 1)), shares: uint(dataOf(own + 2, 1)) }
  return { reads, blockNumber: uint(dataOf(own, 1)), pool }
}
