import type { ChannelRow } from './channel'

/** Banks of FPX: stem of the code, name, and network. */
const fpxBanks: readonly (readonly [string, string, 'both' | 'retail' | 'business'])[] = [
  ['MAYB2U', 'Maybank2u', 'retail'],
  ['CIMB', 'CIMB Clicks', 'both'],
  ['PUBLIC', 'Public Bank', 'both'],
  ['RHB', 'RHB', 'both'],
  ['HLB', 'Hong Leong', 'both'],
  ['AMBANK', 'AmBank', 'both'],
  ['ISLAM', 'Bank Islam', 'both'],
  ['RAKYAT', 'Bank Rakyat', 'both'],
  ['BSN', 'BSN', 'retail'],
  ['AFFIN', 'Affin', 'both'],
  ['AGRO', 'Agrobank', 'both'],
  ['ALLIANCE', 'Alliance', 'both'],
  ['BOC', 'Bank of China', 'retail'],
  ['HSBC', 'HSBC', 'both'],
  ['KFH', 'Kuwait Finance House', 'both'],
  ['MAYB2E', 'Maybank2E', 'both'],
  ['MUAMALAT', 'Bank Muamalat', 'both'],
  ['OCBC', 'OCBC', 'both'],
  ['SCH', 'Standard Chartered', 'both'],
  ['UOB', 'UOB', 'both'],
  ['BNP', 'BNP Paribas', 'business'],
  ['CITIBANK', 'Citibank', 'business'],
  ['DEUTSCHE', 'Deutsche Bank', 'business'],
]

const retail = fpxBanks
  .filter(([, , network]) => network !== 'business')
  .map(([stem, name]): ChannelRow => [`${stem}_FPX`, name, 'ONLINE BANKING', 100n, 3_000_000n, 'no'])

const business = fpxBanks
  .filter(([, , network]) => network !== 'retail')
  .map(
    ([stem, name]): ChannelRow => [
      `${stem}_FPX_BUSINESS`,
      name,
      'ONLINE BANKING FOR COMPANIES',
      100n,
      100_000_000n,
      'no',
    ],
  )

/** Channels with limits in sen, from the provider's channel table of July 2026, which has no DuitNow QR. */
export const malaysia: readonly ChannelRow[] = [
  ['DUITNOW_PAY', 'DuitNow', 'ONLINE BANKING', 100n, 3_000_000n, 'partly', 90],
  ...retail,
  ['CARDS', 'Credit or debit card', 'CARDS', 100n, 500_000n, 'partly', 365],
  ['TOUCHNGO', "Touch 'n Go", 'EWALLET', 100n, 2_000_000n, 'partly', 30],
  ['GRABPAY', 'GrabPay', 'EWALLET', 100n, 150_000n, 'partly', 365],
  ['SHOPEEPAY', 'ShopeePay', 'EWALLET', 100n, 499_900n, 'partly', 365],
  ['WECHATPAY', 'WeChat Pay', 'EWALLET', 100n, 499_900n, 'whole', 365],
  ['AMBANK_VIRTUAL_ACCOUNT', 'AmBank virtual account', 'BANK TRANSFER', 100n, null, 'no'],
  ...business,
]
