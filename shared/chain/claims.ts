/** Part of an account that may contain claims; amounts in 10⁻⁶ AUSD. */
export type Claimed = {
  readonly drawn: string
  readonly encumbered: string
  readonly defaulted: boolean
  readonly frozen: boolean
}

/**
 * Returns the claims on the holder of an account, in words for operators. While there is one, the identity behind the
 * account must stay known: without it the same person could begin a second record. A repayment that can still be reversed
 * is a claim, because its debt may come back, and so is a frozen account, which owes for a reversed payment or may owe.
 */
export function claimsOf({ drawn, encumbered, defaulted, frozen }: Claimed): string[] {
  return [
    ...(drawn === '0' ? [] : [`the wallet owes ${drawn} micro-AUSD`]),
    ...(encumbered === '0' ? [] : [`${encumbered} micro-AUSD of its debt were repaid with money that can be reversed`]),
    ...(defaulted ? ['the wallet has defaulted'] : []),
    ...(frozen ? ['the wallet is frozen'] : []),
  ]
}
