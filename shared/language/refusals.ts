import type { Text } from '#shared/language/language'
import { midnight, midnightOfRinggit } from '#shared/language/time'
import { type RefusalCode, refusalCodes, refusals } from '#shared/refusals'

/** The English is in `shared/refusals.ts`. Midnight there is `midnight` here, in the zone of the language. */
const translations: Readonly<Record<RefusalCode, Omit<Text, 'en'>>> = {
  quote_unknown: {
    id: 'Kurs ini tidak berlaku. Minta kurs baru.',
    ms: 'Kadar ini tidak sah. Sila minta kadar baharu.',
  },
  quote_expired: {
    id: 'Kurs ini sudah kedaluwarsa. Minta kurs baru.',
    ms: 'Kadar ini telah tamat tempoh. Sila minta kadar baharu.',
  },
  quote_used: {
    id: 'Kurs ini sudah digunakan.',
    ms: 'Kadar ini telah digunakan.',
  },
  quote_not_idr: {
    id: 'Penarikan dana memerlukan kurs USD/IDR.',
    ms: 'Pengeluaran memerlukan kadar USD/IDR.',
  },
  cashout_rate_unavailable: {
    id: 'Penarikan dana belum bisa dilakukan: pasar valuta asing tutup, atau sumber kurs berbeda. Coba lagi pada hari kerja bank berikutnya.',
    ms: 'Pengeluaran belum boleh dibuat: pasaran mata wang tutup, atau sumber kadar berbeza. Sila cuba lagi pada hari perbankan berikutnya.',
  },
  quote_for_cashouts: {
    id: 'Harga ini hanya untuk penarikan dana. Minta harga baru.',
    ms: 'Harga ini hanya untuk pengeluaran. Sila dapatkan harga baharu.',
  },
  rate_unavailable: {
    id: 'Kurs sedang tidak tersedia. Coba beberapa saat lagi.',
    ms: 'Kadar pertukaran tidak tersedia. Sila cuba sebentar lagi.',
  },

  not_verified: {
    id: 'Verifikasi identitas Anda terlebih dahulu',
    ms: 'Sila sahkan identiti anda dahulu',
  },
  terms_not_accepted: {
    id: 'Setujui dulu ketentuan layanan yang berlaku.',
    ms: 'Sila terima terma perkhidmatan semasa dahulu.',
  },
  not_in_pilot: {
    id: 'Layanan ini sementara hanya untuk dompet yang diundang. Anda tetap bisa melunasi utang Anda.',
    ms: 'Perkhidmatan ini buat masa ini hanya untuk dompet yang dijemput. Anda masih boleh membayar hutang anda.',
  },
  wallet_frozen: {
    id: 'Dompet dibekukan: sebuah pembayaran dibatalkan oleh bank atau penerbit kartu. Top up lewat transfer bank atau QR untuk melunasinya.',
    ms: 'Dompet dibekukan: satu bayaran telah ditarik balik. Tambah nilai melalui pindahan bank atau QR untuk membayarnya.',
  },
  wallet_in_doubt: {
    id: 'Dompet dibekukan: sebuah pembayaran sedang diperiksa, misalnya karena pengembalian dana atau sengketa belum selesai. Belum ada yang harus Anda bayar. Tunggu hasilnya, atau hubungi layanan pelanggan.',
    ms: 'Dompet dibekukan: satu bayaran sedang diperiksa, misalnya kerana bayaran balik atau pertikaian belum selesai. Anda belum perlu membayar apa-apa. Tunggu keputusannya, atau hubungi khidmat pelanggan.',
  },

  amount_below_minimum_idr: {
    id: 'Jumlah minimum adalah Rp 10.000.',
    ms: 'Jumlah minimum ialah Rp 10,000.',
  },
  amount_below_minimum_myr: {
    id: 'Jumlah minimum adalah RM 5,00.',
    ms: 'Jumlah minimum ialah RM 5.00.',
  },
  amount_above_maximum: {
    id: 'Jumlah melebihi limit semua metode pembayaran.',
    ms: 'Jumlah melebihi had semua kaedah pembayaran.',
  },

  amount_above_day_limit: {
    id: 'Jumlah melebihi limit harian.',
    ms: 'Jumlah melebihi had harian.',
  },
  topups_open_too_many: {
    id: 'Terlalu banyak top up yang belum dibayar. Bayar atau batalkan salah satunya, atau tunggu sampai ada yang kedaluwarsa.',
    ms: 'Terlalu banyak transaksi tambah nilai yang belum dibayar. Bayar atau batalkan satu, atau tunggu sehingga ada yang tamat tempoh.',
  },
  topups_open_too_much: {
    id: 'Total top up yang belum dibayar melebihi limit. Bayar atau batalkan salah satunya, atau tunggu sampai ada yang kedaluwarsa.',
    ms: 'Jumlah tambah nilai yang belum dibayar melebihi had. Bayar atau batalkan satu, atau tunggu sehingga ada yang tamat tempoh.',
  },
  day_limit_reached: {
    id: `Limit harian tercapai. Coba jumlah yang lebih kecil, atau coba lagi setelah pukul ${midnight.id} (untuk ringgit, pukul ${midnightOfRinggit.id}).`,
    ms: `Had harian telah dicapai. Sila cuba jumlah yang lebih kecil, atau sila cuba lagi selepas ${midnight.ms} (bagi ringgit ${midnightOfRinggit.ms}).`,
  },
  day_limit_of_all_reached: {
    id: `Limit harian untuk semua pengguna telah tercapai. Coba jumlah yang lebih kecil, atau coba lagi setelah pukul ${midnight.id}.`,
    ms: `Had harian bagi semua pengguna telah dicapai. Sila cuba jumlah yang lebih kecil, atau cuba lagi selepas ${midnight.ms}.`,
  },
  topups_day_too_many: {
    id: `Terlalu banyak top up hari ini. Coba lagi setelah pukul ${midnight.id} (untuk ringgit, pukul ${midnightOfRinggit.id}).`,
    ms: `Terlalu banyak tambah nilai hari ini. Sila cuba lagi selepas ${midnight.ms} (bagi ringgit ${midnightOfRinggit.ms}).`,
  },
  cashouts_refused_too_many: {
    id: `Terlalu banyak penarikan dana dari dompet ini atau ke rekening ini yang ditolak bank hari ini. Periksa datanya, lalu coba lagi setelah pukul ${midnight.id}.`,
    ms: `Terlalu banyak pengeluaran daripada dompet ini atau ke akaun ini ditolak oleh bank hari ini. Semak butirannya, dan cuba lagi selepas ${midnight.ms}.`,
  },
  gas_budget_spent: {
    id: `Terlalu banyak transfer hari ini. Coba lagi setelah pukul ${midnight.id}.`,
    ms: `Terlalu banyak pindahan hari ini. Sila cuba lagi selepas ${midnight.ms}.`,
  },

  account_checks_too_many: {
    id: `Terlalu banyak pemeriksaan rekening hari ini. Anda dapat menarik dana tanpa pemeriksaan, atau coba lagi setelah pukul ${midnight.id}.`,
    ms: `Terlalu banyak semakan akaun hari ini. Anda boleh membuat pengeluaran tanpa semakan, atau sila cuba lagi selepas ${midnight.ms}.`,
  },
  verification_limit_reached: {
    id: `Terlalu banyak tautan verifikasi hari ini. Gunakan tautan terakhir, atau coba lagi setelah pukul ${midnight.id}.`,
    ms: `Terlalu banyak pautan pengesahan hari ini. Gunakan pautan terakhir, atau sila cuba lagi selepas ${midnight.ms}.`,
  },
  statement_too_long: {
    id: 'Transaksi dalam periode ini terlalu banyak untuk satu mutasi. Pilih periode yang lebih pendek.',
    ms: 'Terlalu banyak transaksi dalam tempoh ini untuk satu penyata. Pilih tempoh yang lebih pendek.',
  },
  export_limit_reached: {
    id: 'Terlalu banyak ekspor hari ini. Coba lagi nanti.',
    ms: 'Terlalu banyak eksport hari ini. Sila cuba lagi kemudian.',
  },

  cancellation_unconfirmed: {
    id: 'Pembatalan belum terkonfirmasi. Pembayaran ini mungkin masih bisa dibayar. Coba lagi.',
    ms: 'Pembatalan belum disahkan. Bayaran ini mungkin masih boleh dibuat. Sila cuba lagi.',
  },
  cancellations_too_many: {
    id: 'Terlalu banyak pembatalan hari ini. Pembayaran ini akan berakhir sendiri jika tidak diselesaikan.',
    ms: 'Terlalu banyak pembatalan hari ini. Bayaran ini akan tamat sendiri jika tidak dilengkapkan.',
  },

  nothing_owed: {
    id: 'Tidak ada pinjaman yang harus dibayar',
    ms: 'Tiada pinjaman yang perlu dibayar',
  },
  settlement_on_its_way: {
    id: 'Pembayaran untuk pinjaman ini sedang diproses.',
    ms: 'Bayaran untuk pinjaman ini sedang diproses.',
  },
  settlements_too_many: {
    id: 'Terlalu banyak pembayaran yang dibuka untuk pinjaman ini. Selesaikan yang masih terbuka, atau coba lagi dalam satu jam.',
    ms: 'Terlalu banyak bayaran dibuka untuk pinjaman ini. Lengkapkan yang masih terbuka, atau cuba lagi dalam masa satu jam.',
  },
  debt_too_large: {
    id: 'Pinjaman terlalu besar untuk dibayar sekaligus. Bayar dulu sebagian langsung dari saldo AUSD di dompet Anda.',
    ms: 'Pinjaman terlalu besar untuk dibayar sekali gus. Bayar dahulu sebahagian terus daripada baki AUSD dalam dompet anda.',
  },
  debt_too_small: {
    id: 'Pinjaman terlalu kecil untuk dibayar dengan cara ini. Bayar langsung dari saldo AUSD di dompet Anda.',
    ms: 'Pinjaman terlalu kecil untuk dibayar dengan cara ini. Bayar terus daripada baki AUSD dalam dompet anda.',
  },

  wallet_not_from: {
    id: 'authorization.from harus dompet Anda',
    ms: 'authorization.from mestilah dompet anda',
  },
  to_not_treasury: {
    id: 'authorization.to harus treasury',
    ms: 'authorization.to mestilah treasury',
  },
  to_zero: {
    id: 'Alamat ini tidak dapat menerima AUSD.',
    ms: 'Alamat ini tidak boleh menerima AUSD.',
  },
  to_token: {
    id: 'Alamat ini tidak dapat menerima AUSD.',
    ms: 'Alamat ini tidak boleh menerima AUSD.',
  },
  to_credit_line: {
    id: 'Alamat ini tidak dapat menerima AUSD.',
    ms: 'Alamat ini tidak boleh menerima AUSD.',
  },
  to_treasury: {
    id: 'Alamat ini tidak dapat menerima AUSD.',
    ms: 'Alamat ini tidak boleh menerima AUSD.',
  },
  to_self: {
    id: 'Ini dompet Anda sendiri.',
    ms: 'Ini dompet anda sendiri.',
  },
  value_zero: {
    id: 'Jumlah harus lebih dari 0.',
    ms: 'Jumlah mesti lebih daripada 0.',
  },
  value_below_minimum: {
    id: 'Transfer minimum adalah 0,01 AUSD.',
    ms: 'Pindahan minimum ialah 0.01 AUSD.',
  },
  valid_before_too_near: {
    id: 'authorization.validBefore harus minimal 5 menit dari sekarang',
    ms: 'authorization.validBefore mesti sekurang-kurangnya 5 minit dari sekarang',
  },
  valid_before_past: {
    id: 'authorization.validBefore harus di masa depan',
    ms: 'authorization.validBefore mesti pada masa hadapan',
  },
  valid_before_soon: {
    id: 'authorization.validBefore harus minimal 60 detik dari sekarang',
    ms: 'authorization.validBefore mesti sekurang-kurangnya 60 saat dari sekarang',
  },
  valid_after_not_reached: {
    id: 'authorization.validAfter harus di masa lalu',
    ms: 'authorization.validAfter mesti pada masa lalu',
  },
  payout_below_minimum: {
    id: 'Penarikan dana minimum adalah Rp 10.000.',
    ms: 'Pengeluaran minimum ialah Rp 10,000.',
  },
  payout_below_bank_minimum: {
    id: 'Jumlah penarikan di bawah minimum bank ini.',
    ms: 'Jumlah pengeluaran di bawah minimum bank ini.',
  },
  payout_above_maximum: {
    id: 'Jumlah penarikan di atas maksimum bank ini.',
    ms: 'Jumlah pengeluaran melebihi maksimum bank ini.',
  },
  payout_not_in_increment: {
    id: 'Bank ini hanya menerima jumlah dalam kelipatan tertentu. Ubah jumlahnya.',
    ms: 'Bank ini hanya menerima jumlah dalam gandaan tertentu. Sila ubah jumlahnya.',
  },
  bank_unknown: {
    id: 'Bank ini belum didukung.',
    ms: 'Bank ini belum disokong.',
  },
  bank_account_format: {
    id: 'Jumlah digit nomor rekening tidak sesuai untuk bank ini.',
    ms: 'Bilangan digit nombor akaun tidak sesuai untuk bank ini.',
  },
  bank_account_refused: {
    id: 'Kami tidak membayar ke rekening bank ini. Gunakan rekening lain, atau hubungi layanan pelanggan.',
    ms: 'Kami tidak membuat bayaran ke akaun bank ini. Gunakan akaun lain, atau hubungi khidmat pelanggan.',
  },
  signature_invalid: {
    id: 'authorization.signature bukan tanda tangan yang sah dari authorization.from untuk transfer ini',
    ms: 'authorization.signature bukan tandatangan yang sah daripada authorization.from untuk pindahan ini',
  },
  balance_too_low: {
    id: 'Saldo AUSD Anda tidak cukup.',
    ms: 'Baki AUSD anda tidak mencukupi.',
  },
  nonce_used: {
    id: 'authorization.nonce sudah digunakan atau dibatalkan',
    ms: 'authorization.nonce telah digunakan atau dibatalkan',
  },
  authorization_conflict: {
    id: 'authorization.nonce sudah dikirim dengan isi yang berbeda',
    ms: 'authorization.nonce telah dihantar dengan kandungan yang berbeza',
  },

  provider_unavailable: {
    id: 'Penyedia pembayaran sedang tidak tersedia. Coba lagi dengan kurs yang sama.',
    ms: 'Penyedia pembayaran tidak tersedia. Sila cuba lagi dengan kadar yang sama.',
  },
  payer_name_unavailable: {
    id: 'Nama terverifikasi Anda, yang diperlukan untuk transfer bank, sedang tidak tersedia. Coba lagi dengan kurs yang sama, atau bayar dengan kartu.',
    ms: 'Nama anda yang disahkan, yang diperlukan bagi pindahan bank, tidak tersedia buat masa ini. Sila cuba lagi dengan kadar yang sama, atau bayar dengan kad.',
  },
  treasury_short: {
    id: 'Saat ini kami belum dapat menerima top up sebesar ini. Coba jumlah yang lebih kecil atau coba lagi nanti.',
    ms: 'Kami belum dapat menerima tambah nilai sebesar ini sekarang. Sila cuba jumlah yang lebih kecil atau cuba lagi kemudian.',
  },
  treasury_empty: {
    id: 'Saat ini kami belum dapat melunasi pinjaman ini. Coba lagi nanti, atau bayar langsung dari saldo AUSD di dompet Anda.',
    ms: 'Kami belum dapat menerima bayaran pinjaman ini sekarang. Cuba lagi kemudian, atau bayar terus daripada baki AUSD dalam dompet anda.',
  },
  payouts_short: {
    id: 'Saat ini kami belum dapat mencairkan rupiah sebanyak itu. Coba jumlah yang lebih kecil atau coba lagi nanti.',
    ms: 'Kami belum dapat membayar rupiah sebanyak itu sekarang. Sila cuba jumlah yang lebih kecil atau cuba lagi kemudian.',
  },
  topups_paused: {
    id: 'Top up dihentikan sementara. Coba lagi nanti dengan kurs baru.',
    ms: 'Tambah nilai dihentikan buat sementara waktu. Sila cuba lagi kemudian dengan kadar baharu.',
  },
  cashouts_paused: {
    id: 'Penarikan dana dihentikan sementara. Coba lagi nanti dengan kurs baru.',
    ms: 'Pengeluaran dihentikan buat sementara waktu. Sila cuba lagi kemudian dengan kadar baharu.',
  },
  ausd_paused: {
    id: 'Penerbit AUSD menghentikan sementara semua transfer. Coba lagi nanti.',
    ms: 'Pengeluar AUSD telah menghentikan pindahan buat sementara waktu. Sila cuba lagi kemudian.',
  },
  relaying_paused: {
    id: 'Transfer dihentikan sementara. Coba lagi nanti.',
    ms: 'Pindahan dihentikan buat sementara waktu. Sila cuba lagi kemudian.',
  },
  chain_unavailable: {
    id: 'Jaringan sedang mengalami gangguan. Silakan coba lagi.',
    ms: 'Rangkaian sedang tergendala. Sila cuba lagi.',
  },
  indexer_lags: {
    id: 'Riwayat kredit belum diperbarui. Coba lagi nanti.',
    ms: 'Rekod kredit belum dikemas kini. Sila cuba lagi kemudian.',
  },
}

export const refusalTexts = Object.fromEntries(
  refusalCodes.map((code) => [code, { en: refusals[code].message, ...translations[code] }]),
) as Readonly<Record<RefusalCode, Text>>
