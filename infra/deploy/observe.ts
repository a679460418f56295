import { type Address, BaseError, ContractFunctionRevertedError, ContractFunctionZeroDataError, getAddress } from 'viem'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { multicall3 } from '#shared/chain/client'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'
import { leastBaseFeeWei } from '#shared/chain/gas'
import { laneRoles, roleHash } from '#shared/chain/lane-roles'
import type { DeployFacts, Holder, LineFacts, TokenFacts } from './facts'
import type { DeployNode } from './node'
import type { KnownAddresses } from './step'
import { type DeployedTerms, termNames, type WantedDeployment } from './wanted'

const zeroHash = `0x${'00'.repeat(32)}` as const

export async function observe(
  { chain, reader }: DeployNode,
  wanted: WantedDeployment,
  places: KnownAddresses,
  deployBlock: number | null,
): Promise<DeployFacts> {
  const holder = async (address: Address): Promise<Holder> => ({
    address,
    wei: await reader.getBalance({ address }),
    ausdMicro: (places.ausd && (await balanceOf(reader, places.ausd, address))) || 0n,
  })
  // It is read first, so that all other facts are at least as new.
  const block = await reader.getBlock()
  const [multicall, token, line, admin, treasury, ...lanes] = await Promise.all([
    reader.getCode({ address: multicall3 }),
    places.ausd ? tokenFacts(reader, places.ausd, wanted) : null,
    places.creditLine ? lineFacts(reader, places.creditLine, places, wanted) : null,
    ...[wanted.admin, wanted.treasury, ...wanted.lanes].map(holder),
  ])
  return {
    ...chain,
    blockNumber: block.number,
    hasMulticall: multicall !== undefined,
    maxFeeWei: maxFeeOver(block.baseFeePerGas ?? 0n),
    token,
    line: line && { ...line, deployBlock },
    admin: admin!,
    treasury: treasury!,
    lanes,
  }
}

/** Returns the maximum fee per gas. Monad rejects less than its least fee. It charges the base fee, so headroom is free. */
export const maxFeeOver = (baseFeeWei: bigint): bigint =>
  baseFeeWei * 3n > leastBaseFeeWei ? baseFeeWei * 3n : leastBaseFeeWei

type Reader = DeployNode['reader']

const balanceOf = (reader: Reader, token: Address, account: Address) =>
  answered(
    reader.readContract({
      address: token,
      abi: ausdAbi,
      functionName: 'balanceOf',
      args: [account],
    }),
  )

async function tokenFacts(reader: Reader, address: Address, wanted: WantedDeployment): Promise<TokenFacts> {
  const at = { address, abi: ausdAbi } as const
  const [code, domain, separator, mintable] = await Promise.all([
    reader.getCode({ address }),
    answered(reader.readContract({ ...at, functionName: 'eip712Domain' })),
    answered(reader.readContract({ ...at, functionName: 'DOMAIN_SEPARATOR' })),
    answered(
      reader.readContract({
        ...at,
        functionName: 'hasRole',
        args: [roleHash('MINTER_ROLE'), wanted.admin],
      }),
    ),
  ])
  return {
    address,
    hasCode: code !== undefined,
    domain: domain && {
      name: domain[1],
      version: domain[2],
      chainId: domain[3],
      verifyingContract: getAddress(domain[4]),
    },
    separator,
    mintable: mintable === true,
  }
}

async function lineFacts(
  reader: Reader,
  address: Address,
  { ausd }: KnownAddresses,
  { admin, treasury, lanes }: WantedDeployment,
): Promise<Omit<LineFacts, 'deployBlock'>> {
  const at = { address, abi: creditLineAbi } as const
  const hasRole = (role: `0x${string}`, account: Address) =>
    answered(reader.readContract({ ...at, functionName: 'hasRole', args: [role, account] }))
  const allowance = async (owner: Address) =>
    ausd &&
    answered(
      reader.readContract({
        address: ausd,
        abi: ausdAbi,
        functionName: 'allowance',
        args: [owner, address],
      }),
    )
  const duties = lanes.flatMap((lane) => laneRoles.map((role) => ({ lane, role })))
  const [code, version, token, itsTreasury, isPaused, liquidity, adminHasRole, byTreasury, byAdmin, ...more] =
    await Promise.all([
      reader.getCode({ address }),
      answered(reader.readContract({ ...at, functionName: 'version' })),
      answered(reader.readContract({ ...at, functionName: 'token' })),
      answered(reader.readContract({ ...at, functionName: 'treasury' })),
      answered(reader.readContract({ ...at, functionName: 'paused' })),
      answered(reader.readContract({ ...at, functionName: 'liquidity' })),
      hasRole(zeroHash, admin),
      allowance(treasury),
      allowance(admin),
      ...duties.map(({ lane, role }) => hasRole(roleHash(role), lane)),
    ])
  return {
    address,
    hasCode: code !== undefined,
    version,
    token: token && getAddress(token),
    treasury: itsTreasury && getAddress(itsTreasury),
    terms: await termsOf(reader, address),
    adminHasRole: adminHasRole === true,
    isPaused: isPaused === true,
    liquidityMicro: liquidity ?? 0n,
    treasuryAllowanceMicro: byTreasury ?? 0n,
    adminAllowanceMicro: byAdmin ?? 0n,
    rolesMissing: duties.filter((_, index) => more[index] !== true),
  }
}

async function termsOf(reader: Reader, address: Address): Promise<DeployedTerms | null> {
  const values = await Promise.all(
    termNames.map((functionName) => answered(reader.readContract({ address, abi: creditLineAbi, functionName }))),
  )
  if (values.includes(null)) return null
  return Object.fromEntries(termNames.map((name, index) => [name, values[index]])) as DeployedTerms
}

/** Returns null if the contract has no such function. Rethrows other errors. */
async function answered<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    const unanswerable =
      error instanceof BaseError &&
      error.walk(
        (one) =>
          one instanceof ContractFunctionRevertedError ||
          one instanceof ContractFunctionZeroDataError ||
          /Abi|PositionOutOfBounds|InvalidBytes/.test((one as Error).name),
      )
    if (unanswerable) return null
    throw error
  }
}
