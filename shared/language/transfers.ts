import type { Text } from '#shared/language/language'

export const cashoutTexts = {
  'account_check.match': {
    en: 'The bank has this account in this name.',
    id: 'Rekening ini terdaftar di bank atas nama tersebut.',
    ms: 'Akaun ini didaftarkan di bank atas nama tersebut.',
  },
  'account_check.no_match': {
    en: 'The bank does not have this account in this name. Check the number and the name.',
    id: 'Rekening ini tidak terdaftar di bank atas nama tersebut. Periksa nomor rekening dan namanya.',
    ms: 'Akaun ini tidak didaftarkan di bank atas nama tersebut. Sila semak nombor akaun dan namanya.',
  },
  'account_check.cannot_tell': {
    en: 'We could not check this account. Make sure that the number and the name are right.',
    id: 'Rekening ini belum dapat kami periksa. Pastikan nomor rekening dan namanya benar.',
    ms: 'Akaun ini tidak dapat kami semak. Sila pastikan nombor akaun dan namanya betul.',
  },

  'cashout.taking': {
    en: 'Your AUSD is being processed.',
    id: 'AUSD Anda sedang diproses.',
    ms: 'AUSD anda sedang diproses.',
  },
  'cashout.taken': {
    en: 'We received your AUSD. The bank transfer is next.',
    id: 'AUSD Anda sudah kami terima. Berikutnya, transfer ke bank.',
    ms: 'AUSD anda telah kami terima. Seterusnya, pindahan ke bank.',
  },
  'cashout.paying': {
    en: 'The bank transfer is in progress.',
    id: 'Transfer bank sedang diproses.',
    ms: 'Pindahan bank sedang diproses.',
  },
  'cashout.paid': {
    en: 'The bank transfer is complete.',
    id: 'Transfer bank berhasil.',
    ms: 'Pindahan bank berjaya.',
  },
  'cashout.failed': {
    en: 'The cash-out failed. Your AUSD is still in your wallet.',
    id: 'Penarikan dana gagal. Saldo AUSD Anda tidak berkurang.',
    ms: 'Pengeluaran gagal. Baki AUSD anda tidak berkurang.',
  },
  'cashout.returning': {
    en: 'Your AUSD is being returned to your wallet.',
    id: 'AUSD Anda sedang dikembalikan ke dompet Anda.',
    ms: 'AUSD anda sedang dipulangkan ke dompet anda.',
  },
  'cashout.returned': {
    en: 'Your AUSD is back in your wallet.',
    id: 'AUSD Anda sudah kembali di dompet Anda.',
    ms: 'AUSD anda telah dipulangkan ke dompet anda.',
  },

  'cashout.reason.authorization_expired': {
    en: 'The signed transfer expired before it was executed.',
    id: 'Transfer yang ditandatangani kedaluwarsa sebelum dijalankan.',
    ms: 'Pindahan yang ditandatangani tamat tempoh sebelum dilaksanakan.',
  },
  'cashout.reason.authorization_used': {
    en: 'The signed transfer was already used or cancelled.',
    id: 'Transfer yang ditandatangani sudah digunakan atau dibatalkan.',
    ms: 'Pindahan yang ditandatangani telah digunakan atau dibatalkan.',
  },
  'cashout.reason.balance_too_low': {
    en: 'The wallet no longer held enough AUSD.',
    id: 'Saldo AUSD di dompet tidak lagi mencukupi.',
    ms: 'Baki AUSD dalam dompet tidak lagi mencukupi.',
  },
  'cashout.reason.account_frozen': {
    en: 'The AUSD issuer has frozen this wallet.',
    id: 'Penerbit AUSD membekukan dompet ini.',
    ms: 'Penerbit AUSD telah membekukan dompet ini.',
  },
  'cashout.reason.take_failed': {
    en: 'We could not transfer your AUSD.',
    id: 'Kami tidak dapat mentransfer AUSD Anda.',
    ms: 'Kami tidak dapat memindahkan AUSD anda.',
  },
  'cashout.reason.taken_late': {
    en: 'The transfer arrived after the cash-out had failed.',
    id: 'Transfer kami terima setelah penarikan dana gagal.',
    ms: 'Pindahan diterima selepas pengeluaran gagal.',
  },
  'cashout.reason.account_unknown': {
    en: 'The bank does not recognise this account number.',
    id: 'Nomor rekening ini tidak dikenal oleh bank.',
    ms: 'Nombor akaun ini tidak dikenali oleh bank.',
  },
  'cashout.reason.name_differs': {
    en: 'The account holder name does not match the account.',
    id: 'Nama pemilik rekening tidak sesuai dengan rekening.',
    ms: 'Nama pemegang akaun tidak sepadan dengan akaun.',
  },
  'cashout.reason.account_limit': {
    en: 'This account cannot receive that much.',
    id: 'Rekening ini tidak dapat menerima jumlah sebesar itu.',
    ms: 'Akaun ini tidak dapat menerima jumlah sebesar itu.',
  },
  'cashout.reason.closed_market_limit': {
    en: 'The limit for cash-outs while the currency market is closed was reached.',
    id: 'Batas pencairan selama pasar valuta tutup telah tercapai.',
    ms: 'Had pengeluaran tunai semasa pasaran mata wang ditutup telah dicapai.',
  },
  'cashout.reason.limit_of_all': {
    en: 'The daily limit for all cash-outs was reached.',
    id: 'Batas harian untuk semua pencairan telah tercapai.',
    ms: 'Had harian untuk semua pengeluaran tunai telah dicapai.',
  },
  'cashout.reason.bank_unavailable': {
    en: 'The bank could not be reached.',
    id: 'Bank tidak dapat dihubungi.',
    ms: 'Bank tidak dapat dihubungi.',
  },
  'cashout.reason.bank_refused': {
    en: 'The bank did not accept the transfer.',
    id: 'Bank tidak menerima transfer ini.',
    ms: 'Bank tidak menerima pindahan ini.',
  },
  'cashout.reason.bank_reversed': {
    en: 'The bank returned the transfer.',
    id: 'Bank mengembalikan transfer ini.',
    ms: 'Bank memulangkan pindahan ini.',
  },
  'cashout.reason.cancelled': {
    en: 'The transfer was cancelled.',
    id: 'Transfer dibatalkan.',
    ms: 'Pindahan dibatalkan.',
  },
  'cashout.reason.compliance': {
    en: 'The transfer was not approved.',
    id: 'Transfer tidak disetujui.',
    ms: 'Pindahan tidak diluluskan.',
  },
  'cashout.reason.provider_refused': {
    en: 'The payment provider could not make the transfer.',
    id: 'Penyedia pembayaran tidak dapat melakukan transfer.',
    ms: 'Penyedia pembayaran tidak dapat membuat pindahan.',
  },
} as const satisfies Record<string, Text>

export const transferTexts = {
  'send.sending': {
    en: 'The transfer is being processed.',
    id: 'Transfer sedang diproses.',
    ms: 'Pindahan sedang diproses.',
  },
  'send.sent': {
    en: 'The transfer is complete.',
    id: 'Transfer berhasil.',
    ms: 'Pindahan berjaya.',
  },
  'send.failed': {
    en: 'The transfer failed. No AUSD was sent.',
    id: 'Transfer gagal. Saldo AUSD Anda tidak berkurang.',
    ms: 'Pindahan gagal. Baki AUSD anda tidak berkurang.',
  },

  'send.reason.balance_too_low': {
    en: 'The wallet did not have enough AUSD.',
    id: 'Saldo AUSD di dompet tidak mencukupi.',
    ms: 'Baki AUSD dalam dompet tidak mencukupi.',
  },
  'send.reason.authorization_expired': {
    en: 'The authorization expired before the transfer was sent.',
    id: 'Otorisasi kedaluwarsa sebelum transfer dikirim.',
    ms: 'Kebenaran tamat tempoh sebelum pindahan dihantar.',
  },
  'send.reason.authorization_cancelled': {
    en: 'The authorization was cancelled.',
    id: 'Otorisasi dibatalkan.',
    ms: 'Kebenaran telah dibatalkan.',
  },
  'send.reason.authorization_used_elsewhere': {
    en: 'The authorization was already used for another transfer.',
    id: 'Otorisasi sudah digunakan untuk transfer lain.',
    ms: 'Kebenaran telah digunakan untuk pindahan lain.',
  },
  'send.reason.signature_invalid': {
    en: 'The signature was not accepted.',
    id: 'Tanda tangan tidak diterima.',
    ms: 'Tandatangan tidak diterima.',
  },
  'send.reason.account_frozen': {
    en: 'The AUSD issuer has frozen the wallet or the recipient.',
    id: 'Penerbit AUSD membekukan dompet ini atau penerimanya.',
    ms: 'Penerbit AUSD telah membekukan dompet ini atau penerimanya.',
  },
  'send.reason.gas_budget_spent': {
    en: 'Too many transfers from this wallet that day.',
    id: 'Terlalu banyak transfer dari dompet ini pada hari itu.',
    ms: 'Terlalu banyak pindahan daripada dompet ini pada hari itu.',
  },
  'send.reason.content_refused': {
    en: 'The recipient cannot receive AUSD.',
    id: 'Penerima tidak dapat menerima AUSD.',
    ms: 'Penerima tidak dapat menerima AUSD.',
  },
  'send.reason.transfer_refused': {
    en: 'The transfer was declined.',
    id: 'Transfer ditolak.',
    ms: 'Pindahan ditolak.',
  },
} as const satisfies Record<string, Text>

export const autoRepayTexts = {
  'autorepay.repaying': {
    en: 'Your debt is being repaid automatically.',
    id: 'Pinjaman Anda sedang dilunasi otomatis.',
    ms: 'Pinjaman anda sedang dibayar balik secara automatik.',
  },
  /** The bound that the user allowed may leave a part of the debt. */
  'autorepay.repaid.wallet': {
    en: '{ausd} of your debt was repaid automatically from your wallet.',
    id: 'Pinjaman Anda dibayar otomatis sebesar {ausd} dari dompet Anda.',
    ms: 'Pinjaman anda telah dibayar balik sebanyak {ausd} secara automatik daripada dompet anda.',
  },
  'autorepay.repaid.collateral': {
    en: '{ausd} of your debt was repaid automatically from your collateral.',
    id: 'Pinjaman Anda dibayar otomatis sebesar {ausd} dari jaminan Anda.',
    ms: 'Pinjaman anda telah dibayar balik sebanyak {ausd} secara automatik daripada cagaran anda.',
  },
  /** It stays true after the last try. */
  'autorepay.failed': {
    en: 'Nothing was taken. The repayment is tried again until the debt is repaid or in default.',
    id: 'Tidak ada yang terpotong. Pelunasan dicoba lagi sampai pinjaman lunas atau gagal bayar.',
    ms: 'Tiada apa-apa yang ditolak. Bayaran balik dicuba lagi sehingga pinjaman selesai dibayar atau mungkir.',
  },
  'autorepay.needless': {
    en: 'The automatic repayment was not needed: there was nothing left to repay in this way.',
    id: 'Pelunasan otomatis tidak diperlukan: tidak ada lagi yang perlu dilunasi dengan cara ini.',
    ms: 'Bayaran balik automatik tidak diperlukan: tiada lagi yang perlu dibayar dengan cara ini.',
  },

  'autorepay.reason.balance_too_low': {
    en: 'Your wallet did not have enough AUSD to repay your debt automatically.',
    id: 'AUSD di dompet Anda tidak cukup untuk melunasi pinjaman secara otomatis.',
    ms: 'AUSD dalam dompet anda tidak mencukupi untuk membayar balik pinjaman secara automatik.',
  },
  'autorepay.reason.allowance_too_low': {
    en: 'The credit line was no longer allowed to take AUSD from your wallet. Allow the automatic repayment again.',
    id: 'Fasilitas kredit tidak lagi diizinkan mengambil AUSD dari dompet Anda. Izinkan pelunasan otomatis sekali lagi.',
    ms: 'Kemudahan kredit tidak lagi dibenarkan mengambil AUSD daripada dompet anda. Benarkan bayaran balik automatik sekali lagi.',
  },
  'autorepay.reason.collateral_too_low': {
    en: 'Your collateral was not enough to repay your debt automatically.',
    id: 'Jaminan Anda tidak cukup untuk melunasi pinjaman secara otomatis.',
    ms: 'Cagaran anda tidak mencukupi untuk membayar balik pinjaman secara automatik.',
  },
  'autorepay.reason.account_frozen': {
    en: 'Your debt could not be repaid automatically, because the AUSD issuer has frozen the wallet. Repay it another way.',
    id: 'Pinjaman tidak dapat dilunasi otomatis karena penerbit AUSD membekukan dompet ini. Lunasi dengan cara lain.',
    ms: 'Pinjaman tidak dapat dibayar balik secara automatik kerana penerbit AUSD telah membekukan dompet ini. Sila bayar dengan cara lain.',
  },
  'autorepay.reason.reverted': {
    en: 'Your debt could not be repaid automatically. Repay it another way.',
    id: 'Pinjaman tidak dapat dilunasi otomatis. Lunasi dengan cara lain.',
    ms: 'Pinjaman tidak dapat dibayar balik secara automatik. Sila bayar dengan cara lain.',
  },
} as const satisfies Record<string, Text>
