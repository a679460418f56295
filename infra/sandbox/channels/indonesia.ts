import type { ChannelRow } from './channel'

const vaMost = 50_000_000_000n

/** Channels with limits in whole rupiah, from the provider's channel table of July 2026. */
export const indonesia: readonly ChannelRow[] = [
  ['QRIS', 'QRIS', 'QR CODE', 1n, 20_000_000n, 'whole', 30],
  ['BCA_VIRTUAL_ACCOUNT', 'BCA', 'BANK TRANSFER', 10_000n, 50_000_000n, 'no'],
  ['MANDIRI_VIRTUAL_ACCOUNT', 'Mandiri', 'BANK TRANSFER', 1n, vaMost, 'no'],
  ['BNI_VIRTUAL_ACCOUNT', 'BNI', 'BANK TRANSFER', 1n, 50_000_000n, 'no'],
  ['BRI_VIRTUAL_ACCOUNT', 'BRI', 'BANK TRANSFER', 1n, vaMost, 'no'],
  ['PERMATA_VIRTUAL_ACCOUNT', 'Permata', 'BANK TRANSFER', 1n, 9_999_999_999n, 'no'],
  ['BSI_VIRTUAL_ACCOUNT', 'Bank Syariah Indonesia', 'BANK TRANSFER', 1n, vaMost, 'no'],
  ['CIMB_VIRTUAL_ACCOUNT', 'CIMB Niaga', 'BANK TRANSFER', 1n, 50_000_000n, 'no'],
  ['BJB_VIRTUAL_ACCOUNT', 'Bank BJB', 'BANK TRANSFER', 1n, 2_000_000_000n, 'no'],
  ['BNC_VIRTUAL_ACCOUNT', 'Neo Commerce', 'BANK TRANSFER', 1n, vaMost, 'no'],
  ['BSS_VIRTUAL_ACCOUNT', 'Sahabat Sampoerna', 'BANK TRANSFER', 1n, vaMost, 'no'],
  ['MUAMALAT_VIRTUAL_ACCOUNT', 'Muamalat', 'BANK TRANSFER', 1n, vaMost, 'no'],
  ['HANA_VIRTUAL_ACCOUNT', 'KEB Hana', 'BANK TRANSFER', 1n, vaMost, 'no'],
  ['CARDS', 'Credit or debit card', 'CARDS', 5_000n, 200_000_000n, 'partly', 365],
  ['DANA', 'DANA', 'EWALLET', 100n, 20_000_000n, 'partly', 30],
  ['OVO', 'OVO', 'EWALLET', 100n, 20_000_000n, 'partly', 14],
  ['SHOPEEPAY', 'ShopeePay', 'EWALLET', 1n, 20_000_000n, 'partly', 365],
  ['GOPAY', 'GoPay', 'EWALLET', 1n, 50_000_000n, 'partly', 45],
  ['LINKAJA', 'LinkAja', 'EWALLET', 1n, 20_000_000n, 'whole', 30],
  ['ASTRAPAY', 'AstraPay', 'EWALLET', 100n, 20_000_000n, 'no'],
  ['JENIUSPAY', 'Jenius Pay', 'EWALLET', 1_000n, 20_000_000n, 'partly'],
  ['NEXCASH', 'Nexcash', 'EWALLET', 1n, 20_000_000n, 'no'],
  ['BRI_DIRECT_DEBIT', 'BRI direct debit', 'ONLINE BANKING', 1n, 50_000_000n, 'whole', 120],
  ['ALFAMART', 'Alfamart', 'OVER THE COUNTER', 10_000n, 5_000_000n, 'no'],
  ['INDOMARET', 'Indomaret', 'OVER THE COUNTER', 10_000n, 2_500_000n, 'no'],
  ['AKULAKU', 'Akulaku', 'PAYLATER', 1_000n, 25_000_000n, 'partly'],
  ['ATOME', 'Atome', 'PAYLATER', 50_000n, 6_000_000n, 'partly'],
  ['INDODANA', 'Indodana', 'PAYLATER', 10_000n, 25_000_000n, 'partly'],
  ['KREDIVO', 'Kredivo', 'PAYLATER', 1_000n, 30_000_000n, 'partly'],
]
