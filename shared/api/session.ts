export const sessionSecondsMax = 7 * 24 * 60 * 60

/** Signed with personal_sign. */
export const signInText = (wallet: string, until: number): string =>
  `Sign in to Service\n${wallet.toLowerCase()}\nuntil ${until}`
