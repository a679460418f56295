const pattern = /^0x[0-9a-fA-F]{40}$/

/** Returns the fault of a command's first argument, or undefined if it is a wallet. */
export const walletFault = ([wallet = '']: readonly string[]): string | undefined =>
  pattern.test(wallet) ? undefined : 'expected a wallet: 0x and 40 hex digits'
