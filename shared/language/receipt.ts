import type { Language, Text } from '#shared/language/language'
import { paymentLabels } from '#shared/language/payments'
import type { ActivityEntry, activityStatuses, ChannelKind, PaidAccount } from '#shared/messages/activity'
import type { AutoRepaySource } from '#shared/messages/credit'

type Status = (typeof activityStatuses)[keyof typeof activityStatuses][number]

export const receiptTitles = {
  inFlight: { en: 'In progress', id: 'Sedang diproses', ms: 'Sedang diproses' },
  ended: { en: 'Receipt', id: 'Bukti transaksi', ms: 'Resit' },
} as const satisfies Record<string, Text>

/** Writes a bank account as in `Bank Central Asia •••• 7890`. */
export const accountText = ({ name, lastDigits }: PaidAccount): string => `${name} •••• ${lastDigits}`

export const receiptRows = {
  fiat: { en: 'Amount in local currency', id: 'Jumlah dalam mata uang lokal', ms: 'Jumlah dalam mata wang tempatan' },
  fee: { en: 'Fee', id: 'Biaya', ms: 'Caj' },
  rate: { en: 'Exchange rate', id: 'Kurs', ms: 'Kadar pertukaran' },
  ausd: { en: 'AUSD', id: 'AUSD', ms: 'AUSD' },
  channel: { en: 'Paid through', id: 'Metode pembayaran', ms: 'Kaedah pembayaran' },
  bankReceipt: { en: 'Bank receipt number', id: 'Nomor bukti bank', ms: 'Nombor resit bank' },
  bank: { en: 'Bank account', id: 'Rekening bank', ms: 'Akaun bank' },
  source: { en: 'Paid from', id: 'Dibayar dari', ms: 'Dibayar daripada' },
  to: { en: 'To', id: 'Kepada', ms: 'Kepada' },
  createdAt: { en: 'Created', id: 'Dibuat', ms: 'Dibuat' },
  updatedAt: { en: 'Last change', id: 'Perubahan terakhir', ms: 'Perubahan terakhir' },
  status: { en: 'Status', id: 'Status', ms: 'Status' },
  txHash: { en: 'Transaction', id: 'Transaksi', ms: 'Transaksi' },
  id: { en: 'Reference', id: 'Nomor referensi', ms: 'Nombor rujukan' },
  support: { en: 'Support', id: 'Layanan pelanggan', ms: 'Khidmat pelanggan' },
} as const satisfies Record<string, Text>

/** Writes a rate, as in `Rp 16,250 per dollar`. */
export const rateText = {
  en: (amount: string) => `${amount} per dollar`,
  id: (amount: string) => `${amount} per dolar`,
  ms: (amount: string) => `${amount} bagi setiap dolar`,
} as const satisfies Record<Language, (amount: string) => string>

/** Writes how an item was paid, as in `QR code (DANA)`. Returns undefined if neither channel nor issuer is known. */
export function paidThrough({ channel, issuer }: Pick<ActivityEntry, 'channel' | 'issuer'>, language: Language) {
  const name = channel && channel !== 'unknown' ? channelTexts[channel][language] : undefined
  return name && issuer ? `${name} (${issuer})` : (name ?? issuer)
}

export const kindTexts = {
  topup: { en: 'Top-up', id: 'Top up', ms: 'Tambah nilai' },
  settlement: { en: 'Debt repayment', id: 'Pelunasan pinjaman', ms: 'Bayaran pinjaman' },
  cashout: { en: 'Cash-out', id: 'Penarikan dana', ms: 'Pengeluaran' },
  send: { en: 'Transfer', id: 'Transfer', ms: 'Pindahan' },
  autorepay: { en: 'Automatic repayment', id: 'Pelunasan otomatis', ms: 'Bayaran balik automatik' },
} as const satisfies Record<ActivityEntry['kind'], Text>

export const statusTexts = {
  ...paymentLabels,
  taking: { en: 'in progress', id: 'diproses', ms: 'diproses' },
  taken: { en: 'AUSD received', id: 'AUSD diterima', ms: 'AUSD diterima' },
  paying: { en: 'bank transfer in progress', id: 'sedang ditransfer', ms: 'sedang dipindahkan' },
  failed: { en: 'failed', id: 'gagal', ms: 'gagal' },
  returning: { en: 'being returned', id: 'sedang dikembalikan', ms: 'sedang dipulangkan' },
  returned: { en: 'returned', id: 'dikembalikan', ms: 'dipulangkan' },
  sending: { en: 'in progress', id: 'sedang dikirim', ms: 'sedang dihantar' },
  sent: { en: 'sent', id: 'terkirim', ms: 'dihantar' },
  repaying: { en: 'in progress', id: 'sedang dilunasi', ms: 'sedang dibayar balik' },
  needless: { en: 'not needed', id: 'tidak diperlukan', ms: 'tidak diperlukan' },
} as const satisfies Record<Status, Text>

const repaidAutomatically: Text = { en: 'repaid', id: 'dibayar', ms: 'dibayar balik' }

/** Names the status of an item. An automatic repayment may leave a part of the debt, whereas a settlement repays it whole. */
export function statusText({ kind, status }: Pick<ActivityEntry, 'kind' | 'status'>, language: Language): string {
  const text: Text | undefined = kind === 'autorepay' && status === 'repaid' ? repaidAutomatically : statusTexts[status]
  return text?.[language] ?? status
}

export const sourceTexts = {
  wallet: { en: 'AUSD in your wallet', id: 'AUSD di dompet Anda', ms: 'AUSD dalam dompet anda' },
  collateral: { en: 'Your collateral', id: 'Jaminan Anda', ms: 'Cagaran anda' },
} as const satisfies Record<AutoRepaySource, Text>

export const channelTexts = {
  bank: { en: 'bank transfer', id: 'transfer bank', ms: 'pindahan bank' },
  qr: { en: 'QR', id: 'QR', ms: 'QR' },
  card: { en: 'card', id: 'kartu', ms: 'kad' },
  ewallet: { en: 'e-wallet', id: 'e-wallet', ms: 'e-dompet' },
  counter: { en: 'shop counter', id: 'gerai ritel', ms: 'kaunter kedai' },
  paylater: { en: 'pay later', id: 'paylater', ms: 'bayar kemudian' },
  direct_debit: { en: 'direct debit', id: 'debit langsung', ms: 'debit terus' },
} as const satisfies Record<Exclude<ChannelKind, 'unknown'>, Text>
