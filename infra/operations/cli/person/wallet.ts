const pattern = /^0x[0-9a-fA-F]{40}$/

export const walletFault = ([wallet = '']: readonly string[]): string | undefined =>
  pattern.test(wallet) ? undefined : 'expected a wallet: 0x and 40 hex digits'
