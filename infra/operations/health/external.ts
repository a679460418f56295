import type { Hex } from 'viem'
import type { Place } from '#infra/operations/place'
import { readAtAny } from '#infra/operations/record/chain-log'
import { openAccount } from '#infra/operations/restore/provider'
import { ausdAbi } from '#shared/chain/ausd-abi.gen'
import { readBalance } from '#shared/provider/balance'

export type ExternalAnswer<T> = { known: T } | { unknown: string }

export type TreasuryHolds = { balanceMicro: bigint; drawableMicro: bigint }

/** Reads the treasury at the latest final block. `drawableMicro` is what the credit line may draw. */
export const readTreasury = (place: Place): Promise<ExternalAnswer<TreasuryHolds>> =>
  asked(async () => {
    const token = { address: place.ausd, abi: ausdAbi, blockTag: 'finalized' } as const
    const { treasury, creditLine } = place
    const [balanceMicro, allowanceMicro] = await readAtAny(place.rpcUrls, (node) =>
      Promise.all([
        node.readContract({ ...token, functionName: 'balanceOf', args: [treasury] }),
        node.readContract({ ...token, functionName: 'allowance', args: [treasury, creditLine] }),
      ]),
    )
    const isLess = allowanceMicro < balanceMicro
    return { balanceMicro, drawableMicro: isLess ? allowanceMicro : balanceMicro }
  })

/** Reads the coin of an address, in wei. */
export const readCoin = (place: Place, address: Hex): Promise<ExternalAnswer<bigint>> =>
  asked(() => readAtAny(place.rpcUrls, (node) => node.getBalance({ address })))

export const readRupiah = ({ provider }: Place): Promise<ExternalAnswer<bigint>> =>
  asked(async () => {
    if (!provider) throw new Error('PROVIDER_ID_SECRET_KEY is not set')
    return readBalance(openAccount(provider, 'ID'))
  })

export async function asked<T>(work: () => Promise<T>): Promise<ExternalAnswer<T>> {
  try {
    return { known: await work() }
  } catch (error) {
    const { shortMessage, message } = error as { shortMessage?: string; message: string }
    return { unknown: shortMessage ?? (message || String(error)) }
  }
}
