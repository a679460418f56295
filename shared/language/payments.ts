import type { Text } from '#shared/language/language'

/** Names of the states on a receipt. Cash-outs share `paid`. */
export const paymentLabels = {
  awaiting_payment: { en: 'awaiting payment', id: 'menunggu pembayaran', ms: 'menunggu bayaran' },
  expired: { en: 'expired', id: 'kedaluwarsa', ms: 'tamat tempoh' },
  replaced: { en: 'replaced', id: 'digantikan', ms: 'digantikan' },
  paid: { en: 'paid', id: 'dibayar', ms: 'dibayar' },
  held: { en: 'on hold', id: 'ditahan', ms: 'ditahan' },
  credited: { en: 'credited', id: 'berhasil', ms: 'berjaya' },
  repaid: { en: 'repaid', id: 'lunas', ms: 'dibayar penuh' },
  revoking: { en: 'being reversed', id: 'sedang dibatalkan', ms: 'sedang ditarik balik' },
  revoked: { en: 'reversed', id: 'dibatalkan', ms: 'ditarik balik' },
  refunded: { en: 'refunded', id: 'dana dikembalikan', ms: 'dipulangkan' },
  review: { en: 'under review', id: 'ditinjau', ms: 'disemak' },
  refunding: { en: 'being refunded', id: 'dana sedang dikembalikan', ms: 'sedang dipulangkan' },
  accepted: { en: 'resolved', id: 'selesai', ms: 'diselesaikan' },
} as const satisfies Record<string, Text>

export const paymentTexts = {
  'payment.awaiting_payment': {
    en: 'Pay before the checkout closes.',
    id: 'Selesaikan pembayaran sebelum batas waktunya.',
    ms: 'Sila lengkapkan bayaran sebelum masanya tamat.',
  },
  'payment.expired': {
    en: 'This checkout is closed.',
    id: 'Pembayaran ini sudah tidak dapat dilanjutkan.',
    ms: 'Bayaran ini tidak boleh diteruskan lagi.',
  },
  'payment.replaced': {
    en: 'This checkout is closed.',
    id: 'Pembayaran ini sudah tidak dapat dilanjutkan.',
    ms: 'Bayaran ini tidak boleh diteruskan lagi.',
  },
  'payment.paid': {
    en: 'We received your payment and are processing it.',
    id: 'Pembayaran Anda sudah kami terima dan sedang diproses.',
    ms: 'Bayaran anda telah kami terima dan sedang diproses.',
  },
  'payment.held': {
    en: 'This payment can still be reversed, so it is on hold. It counts as collateral when the hold ends.',
    id: 'Pembayaran ini masih dapat dibatalkan oleh bank atau penerbit kartu, sehingga ditahan sementara. Pembayaran ini menjadi jaminan setelah masa penahanan berakhir.',
    ms: 'Bayaran ini masih boleh ditarik balik, jadi ia ditahan buat sementara waktu. Ia dikira sebagai cagaran apabila tempoh pegangan tamat.',
  },
  'payment.credited': {
    en: 'This top-up is complete.',
    id: 'Top up berhasil.',
    ms: 'Tambah nilai berjaya.',
  },
  'payment.repaid': {
    en: 'Your debt has been repaid.',
    id: 'Pinjaman Anda sudah lunas.',
    ms: 'Pinjaman anda telah dibayar sepenuhnya.',
  },
  'payment.revoking': {
    en: 'The AUSD from this payment is being reversed.',
    id: 'AUSD dari pembayaran ini sedang dibatalkan.',
    ms: 'AUSD daripada bayaran ini sedang ditarik balik.',
  },
  'payment.revoked': {
    en: 'The AUSD from this payment was reversed.',
    id: 'AUSD dari pembayaran ini telah dibatalkan.',
    ms: 'AUSD daripada bayaran ini telah ditarik balik.',
  },
  'payment.refunded': {
    en: 'No AUSD was credited.',
    id: 'Tidak ada AUSD yang ditambahkan.',
    ms: 'Tiada AUSD dikreditkan.',
  },
  'payment.review': {
    en: 'This payment needs manual review. Contact support with its reference.',
    id: 'Pembayaran ini perlu ditinjau. Hubungi layanan pelanggan dengan menyebutkan nomor referensinya.',
    ms: 'Bayaran ini perlu disemak. Sila hubungi khidmat pelanggan dengan nombor rujukan bayaran ini.',
  },
  'payment.refunding': {
    en: 'Support is refunding the amount that could not be applied.',
    id: 'Layanan pelanggan sedang mengembalikan dana yang tidak dapat digunakan.',
    ms: 'Khidmat pelanggan sedang memulangkan jumlah yang tidak dapat digunakan.',
  },
  'payment.refunding_credited': {
    en: 'Support is refunding this payment, because you gave its AUSD back.',
    id: 'Layanan pelanggan sedang mengembalikan dana pembayaran ini, karena Anda telah mengembalikan AUSD-nya.',
    ms: 'Khidmat pelanggan sedang memulangkan bayaran ini, kerana anda telah memulangkan AUSDnya.',
  },
  'payment.accepted': {
    en: 'Support has resolved this payment.',
    id: 'Layanan pelanggan telah menyelesaikan pembayaran ini.',
    ms: 'Khidmat pelanggan telah menyelesaikan bayaran ini.',
  },

  'payment.unconfirmed': {
    en: 'This checkout has closed. We are waiting for the payment provider to confirm whether it was paid. If you have paid, do not pay again.',
    id: 'Batas waktu pembayaran ini sudah habis. Kami menunggu konfirmasi dari penyedia pembayaran apakah sudah dibayar. Jika Anda sudah membayar, jangan membayar lagi.',
    ms: 'Masa untuk membuat bayaran ini telah tamat. Kami menunggu pengesahan daripada penyedia pembayaran sama ada ia telah dibayar. Jika anda telah membayar, jangan bayar lagi.',
  },
  'payment.unpaid': {
    en: 'The checkout was not paid in time.',
    id: 'Batas waktu pembayaran ini sudah habis.',
    ms: 'Masa untuk membuat bayaran ini telah tamat.',
  },
  'payment.nothing_charged': {
    en: 'Nothing was charged. Open a new checkout to pay.',
    id: 'Saldo Anda tidak terpotong. Buat pembayaran baru jika masih ingin membayar.',
    ms: 'Anda tidak dicaj. Mulakan bayaran baharu jika mahu teruskan.',
  },
  'payment.repaid_on_hold': {
    en: 'Your debt has been repaid. The same amount of your limit stays reserved until the hold ends, because this payment can still be reversed.',
    id: 'Pinjaman Anda sudah lunas. Limit Anda sebesar jumlah itu ditahan sampai masa penahanan berakhir, karena pembayaran ini masih dapat dibatalkan oleh bank atau penerbit kartu.',
    ms: 'Pinjaman anda telah dibayar sepenuhnya. Had anda sebanyak jumlah itu ditahan sehingga tempoh pegangan tamat, kerana bayaran ini masih boleh ditarik balik.',
  },
  'payment.nothing_owed': {
    en: 'You no longer owe anything for this reversed payment.',
    id: 'Tidak ada lagi yang harus Anda bayar untuk pembayaran yang dibatalkan ini.',
    ms: 'Anda tidak perlu membayar apa-apa lagi untuk bayaran yang ditarik balik ini.',
  },
  'payment.owed': {
    en: 'You owe {ausd} for this reversed payment. Your wallet is frozen until it is repaid. Top up by bank transfer or QR, or contact support.',
    id: 'Pembayaran ini dibatalkan, jadi ada {ausd} yang perlu Anda bayar. Dompet Anda dibekukan sampai jumlah itu lunas. Top up lewat transfer bank atau QR, atau hubungi layanan pelanggan.',
    ms: 'Anda perlu membayar {ausd} untuk bayaran yang ditarik balik ini. Dompet anda dibekukan sehingga jumlah itu dibayar sepenuhnya. Tambah nilai melalui pindahan bank atau QR, atau hubungi khidmat pelanggan.',
  },
  'payment.in_doubt': {
    en: 'A refund or dispute of this payment is open. Your wallet is frozen until it is decided.',
    id: 'Pengembalian dana atau sengketa atas pembayaran ini belum selesai. Dompet Anda dibekukan sampai ada keputusan.',
    ms: 'Bayaran balik atau pertikaian atas bayaran ini belum selesai. Dompet anda dibekukan sehingga ada keputusan.',
  },
  'payment.paid_late': {
    en: 'It was paid after the checkout closed, so a later exchange rate applies.',
    id: 'Pembayaran dilakukan setelah batas waktunya, sehingga berlaku kurs yang lebih baru.',
    ms: 'Bayaran dibuat selepas masanya tamat, jadi kadar pertukaran yang lebih baharu digunakan.',
  },

  'payment.reason.awaiting_rate': {
    en: 'Your payment arrived after the checkout closed. We are waiting for an exchange rate.',
    id: 'Pembayaran Anda kami terima setelah batas waktunya. Kami sedang menunggu kurs.',
    ms: 'Bayaran anda kami terima selepas masanya tamat. Kami sedang menunggu kadar pertukaran.',
  },
  'payment.reason.sender_unverified': {
    en: 'We could not confirm that the bank account you paid from is yours.',
    id: 'Kami tidak dapat memastikan bahwa rekening asal pembayaran ini milik Anda.',
    ms: 'Kami tidak dapat mengesahkan bahawa akaun bank yang membuat bayaran ini milik anda.',
  },
  'payment.reason.excess_refused': {
    en: 'When this payment arrived, it would have exceeded the limits of top-ups. It was not applied.',
    id: 'Saat diterima, pembayaran ini melebihi limit top up, sehingga tidak digunakan.',
    ms: 'Semasa diterima, bayaran ini melebihi had tambah nilai, jadi ia tidak digunakan.',
  },
  'payment.reason.amount_differs': {
    en: 'The amount you paid differs from the checkout amount.',
    id: 'Jumlah yang Anda bayar berbeda dari jumlah yang diminta.',
    ms: 'Jumlah yang anda bayar berbeza daripada jumlah yang diminta.',
  },
  'payment.reason.overpaid': {
    en: 'You paid more than was due. The rest was not applied.',
    id: 'Anda membayar lebih dari jumlah yang diminta. Kelebihannya tidak digunakan.',
    ms: 'Anda membayar lebih daripada jumlah yang diminta. Lebihannya tidak digunakan.',
  },
  'payment.reason.currency_differs': {
    en: 'You paid in a different currency from the checkout.',
    id: 'Anda membayar dengan mata uang yang berbeda dari yang diminta.',
    ms: 'Anda membayar dalam mata wang yang berbeza daripada yang diminta.',
  },
  'payment.reason.paid_twice': {
    en: 'This checkout was paid twice. The second payment was not credited.',
    id: 'Anda membayar dua kali. Pembayaran kedua tidak ditambahkan.',
    ms: 'Anda membayar dua kali. Bayaran kedua tidak dikreditkan.',
  },
  'payment.reason.second_refunded': {
    en: 'This checkout was paid twice. The second payment was refunded.',
    id: 'Anda membayar dua kali. Dana pembayaran kedua telah dikembalikan.',
    ms: 'Anda membayar dua kali. Bayaran kedua telah dipulangkan.',
  },
  'payment.reason.replaced': {
    en: 'A newer checkout for this debt replaced this one.',
    id: 'Pembayaran ini digantikan oleh pembayaran yang lebih baru untuk pinjaman ini.',
    ms: 'Bayaran ini digantikan oleh bayaran yang lebih baharu untuk pinjaman ini.',
  },
  'payment.reason.cancelled': {
    en: 'This checkout was cancelled.',
    id: 'Pembayaran ini dibatalkan.',
    ms: 'Bayaran ini telah dibatalkan.',
  },
  'payment.reason.made_good': {
    en: 'This payment first covered an earlier reversed payment; any remainder is credited to you.',
    id: 'Pembayaran ini lebih dahulu menutup pembayaran sebelumnya yang dibatalkan; sisanya ditambahkan kepada Anda.',
    ms: 'Bayaran ini menampung dahulu bayaran terdahulu yang ditarik balik; baki selebihnya dikreditkan kepada anda.',
  },
  'payment.reason.refunded_before_credit': {
    en: 'The payment was refunded before it was credited.',
    id: 'Dana pembayaran ini dikembalikan sebelum ditambahkan.',
    ms: 'Bayaran ini dipulangkan sebelum dikreditkan.',
  },
  'payment.reason.refunded_in_part': {
    en: 'Part of the payment was refunded; only the rest is applied.',
    id: 'Sebagian dana pembayaran dikembalikan; hanya sisanya yang digunakan.',
    ms: 'Sebahagian bayaran dipulangkan; hanya bakinya digunakan.',
  },
  'payment.reason.refunded_during_hold': {
    en: 'The payment was refunded during its hold.',
    id: 'Dana pembayaran ini dikembalikan selama masa penahanan.',
    ms: 'Bayaran ini dipulangkan dalam tempoh pegangan.',
  },
  'payment.reason.refunded_after_credit': {
    en: 'The payment was refunded after it was credited.',
    id: 'Dana pembayaran ini dikembalikan setelah ditambahkan.',
    ms: 'Bayaran ini dipulangkan selepas dikreditkan.',
  },
  'payment.reason.refund_undone': {
    en: 'The refund of this payment failed or was withdrawn, so we hold your money again.',
    id: 'Pengembalian dana pembayaran ini gagal atau dibatalkan, sehingga dana Anda kembali ada pada kami.',
    ms: 'Pemulangan bayaran ini gagal atau dibatalkan, jadi wang anda kembali dalam simpanan kami.',
  },
  'payment.reason.credit_failed': {
    en: 'Your payment arrived, but we could not credit it yet.',
    id: 'Pembayaran Anda sudah kami terima, tetapi belum dapat kami tambahkan.',
    ms: 'Bayaran anda telah kami terima, tetapi belum dapat dikreditkan.',
  },
  'payment.reason.repay_failed': {
    en: 'Your payment arrived, but we could not repay your debt with it yet.',
    id: 'Pembayaran Anda sudah kami terima, tetapi belum dapat kami gunakan untuk melunasi pinjaman Anda.',
    ms: 'Bayaran anda telah kami terima, tetapi belum dapat digunakan untuk membayar pinjaman anda.',
  },
  'payment.reason.revoke_failed': {
    en: 'The payment was refunded just as its hold ended.',
    id: 'Dana pembayaran ini dikembalikan tepat saat masa penahanan berakhir.',
    ms: 'Bayaran ini dipulangkan tepat semasa tempoh pegangan tamat.',
  },
} as const satisfies Record<string, Text>
