export const sessionSecondsMax = 7 * 24 * 60 * 60

/** Returns the text that a wallet signs with personal_sign. */
export const signInText = (wallet: string, until: number): string =>
  `Sign in to Service\n${wallet.toLowerCase()}\nuntil ${until}`
