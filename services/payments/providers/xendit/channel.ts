import type { ChannelKind } from '#shared/messages/activity'

const virtualAccountBanks = [
  ...['BCA', 'BNI', 'BRI', 'MANDIRI', 'PERMATA', 'BSI', 'CIMB', 'BJB', 'BNC', 'BSS', 'MUAMALAT'],
  ...['HANA', 'INA', 'AMBANK'],
]
const fpxBanks = [
  ...['AFFIN', 'AGRO', 'ALLIANCE', 'AMBANK', 'CIMB', 'HLB', 'HSBC', 'ISLAM', 'KFH', 'MAYB2E'],
  ...['MUAMALAT', 'OCBC', 'PUBLIC', 'RAKYAT', 'RHB', 'SCH', 'UOB', 'BOC', 'BSN', 'MAYB2U'],
  ...['BNP', 'CITIBANK', 'DEUTSCHE'],
]
const ofKind = (kind: ChannelKind, codes: readonly string[]) =>
  codes.map((code) => [code, kind] as const)

/** The provider's channel codes of Indonesia and Malaysia, from its channel tables of July 2026. */
const kinds: ReadonlyMap<string, ChannelKind> = new Map([
  ...ofKind(
    'bank',
    virtualAccountBanks.map((bank) => `${bank}_VIRTUAL_ACCOUNT`),
  ),
  ...ofKind(
    'bank',
    fpxBanks.flatMap((bank) => [`${bank}_FPX`, `${bank}_FPX_BUSINESS`]),
  ),
  // The specification says that DuitNow is never held, and this is the provider's only code of it:
  // the payer's own bank pushes the transfer, so that neither payer nor bank can call it back. That
  // we may refund it ourselves (for 90 days, by the provider's table) takes nothing from us.
  ...ofKind('bank', ['DUITNOW_PAY']),
  // Pulled by us from an account, on a mandate: the payer may dispute it as a card payment.
  ...ofKind('direct_debit', ['BRI_DIRECT_DEBIT']),
  ...ofKind('qr', ['QRIS']),
  ...ofKind('card', ['CARDS']),
  ...ofKind('ewallet', ['DANA', 'OVO', 'SHOPEEPAY', 'LINKAJA', 'ASTRAPAY', 'GOPAY']),
  ...ofKind('ewallet', ['GOPAY_RECURRING', 'JENIUSPAY', 'NEXCASH', 'TOUCHNGO', 'GRABPAY']),
  ...ofKind('ewallet', ['WECHATPAY']),
  ...ofKind('counter', ['ALFAMART', 'INDOMARET']),
  ...ofKind('paylater', ['AKULAKU', 'ATOME', 'INDODANA', 'KREDIVO']),
])

/** A code we have never seen is `unknown`, and unknown money is held. */
export const channelKind = (code: string): ChannelKind => kinds.get(code) ?? 'unknown'
