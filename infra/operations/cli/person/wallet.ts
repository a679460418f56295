import { isWallet } from '#infra/operations/timeline/find'

export const walletFault = ([wallet = '']: readonly string[]): string | undefined =>
  isWallet(wallet) ? undefined : 'expected a wallet: 0x and 40 hex digits'
