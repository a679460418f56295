import type { ChannelKind } from '#shared/messages/activity'

const virtualAccountBanks = [
  'BCA',
  'BNI',
  'BRI',
  'MANDIRI',
  'PERMATA',
  'BSI',
  'CIMB',
  'BJB',
  'BNC',
  'BSS',
  'MUAMALAT',
  'HANA',
  'INA',
  'AMBANK',
]
const fpxBanks = [
  'AFFIN',
  'AGRO',
  'ALLIANCE',
  'AMBANK',
  'CIMB',
  'HLB',
  'HSBC',
  'ISLAM',
  'KFH',
  'MAYB2E',
  'MUAMALAT',
  'OCBC',
  'PUBLIC',
  'RAKYAT',
  'RHB',
  'SCH',
  'UOB',
  'BOC',
  'BSN',
  'MAYB2U',
  'BNP',
  'CITIBANK',
  'DEUTSCHE',
]
const ofKind = (kind: ChannelKind, codes: readonly string[]) => codes.map((code) => [code, kind] as const)

/** Kinds of channels in Indonesia and Malaysia, from the provider's channel tables of July 2026. */
const kinds: ReadonlyMap<string, ChannelKind> = new Map([
  ...ofKind(
    'bank',
    virtualAccountBanks.map((bank) => `${bank}_VIRTUAL_ACCOUNT`),
  ),
  ...ofKind(
    'bank',
    fpxBanks.flatMap((bank) => [`${bank}_FPX`, `${bank}_FPX_BUSINESS`]),
  ),
  // DuitNow (the provider has one code for all of it) is never held, by the interface specification: the
  // payer's bank pushes the transfer, so neither the payer nor the bank can reverse it. All refunds of it,
  // possible for 90 days by the provider's table, are ours.
  ...ofKind('bank', ['DUITNOW_PAY']),
  // BRI direct debit is pulled from the payer's account on a mandate, so the payer can dispute it like a card
  // payment.
  ...ofKind('direct_debit', ['BRI_DIRECT_DEBIT']),
  ...ofKind('qr', ['QRIS']),
  ...ofKind('card', ['CARDS']),
  ...ofKind('ewallet', ['DANA', 'OVO', 'SHOPEEPAY', 'LINKAJA', 'ASTRAPAY', 'GOPAY']),
  ...ofKind('ewallet', ['GOPAY_RECURRING', 'JENIUSPAY', 'NEXCASH', 'TOUCHNGO', 'GRABPAY']),
  ...ofKind('ewallet', ['WECHATPAY']),
  ...ofKind('counter', ['ALFAMART', 'INDOMARET']),
  ...ofKind('paylater', ['AKULAKU', 'ATOME', 'INDODANA', 'KREDIVO']),
])

export const knownChannels: readonly string[] = [...kinds.keys()]

/** Returns `unknown` for a new code, whose payments are held. */
export const channelKind = (code: string): ChannelKind => kinds.get(code) ?? 'unknown'
