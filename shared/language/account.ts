import type { Text } from '#shared/language/language'

/** Texts of `GET /me`. */
export const accountTexts = {
  'verification.approved': {
    en: 'Your identity is verified.',
    id: 'Identitas Anda sudah terverifikasi.',
    ms: 'Identiti anda telah disahkan.',
  },
  'verification.approved_soon': {
    en: 'Your identity is approved. Your account will be active in a moment.',
    id: 'Identitas Anda disetujui. Akun Anda akan segera aktif.',
    ms: 'Identiti anda diluluskan. Akaun anda akan aktif sebentar lagi.',
  },
  'verification.approved_stuck': {
    en: 'Your identity is approved, but your account could not be activated. Contact support.',
    id: 'Identitas Anda disetujui, tetapi akun Anda belum dapat diaktifkan. Hubungi layanan pelanggan.',
    ms: 'Identiti anda diluluskan, tetapi akaun anda tidak dapat diaktifkan. Sila hubungi khidmat pelanggan.',
  },
  'verification.in_review': {
    en: 'Your documents are being reviewed.',
    id: 'Dokumen Anda sedang ditinjau.',
    ms: 'Dokumen anda sedang disemak.',
  },
  'verification.started': {
    en: 'Finish your identity verification.',
    id: 'Selesaikan verifikasi identitas Anda.',
    ms: 'Sila lengkapkan pengesahan identiti anda.',
  },
  'verification.resubmit': {
    en: 'Your documents were not accepted. Verify again with clearer or different documents.',
    id: 'Dokumen Anda tidak diterima. Silakan verifikasi ulang dengan dokumen yang lebih jelas atau dokumen lain.',
    ms: 'Dokumen anda tidak diterima. Sila buat pengesahan semula dengan dokumen yang lebih jelas atau dokumen lain.',
  },
  'verification.rejected': {
    en: 'Your identity could not be verified. Contact support.',
    id: 'Identitas Anda tidak dapat diverifikasi. Hubungi layanan pelanggan.',
    ms: 'Identiti anda tidak dapat disahkan. Sila hubungi khidmat pelanggan.',
  },
  'verification.duplicate': {
    en: 'Your identity already belongs to another wallet. Use that wallet, or contact support.',
    id: 'Identitas Anda sudah terdaftar pada dompet lain. Gunakan dompet itu, atau hubungi layanan pelanggan.',
    ms: 'Identiti anda telah didaftarkan pada dompet lain. Gunakan dompet itu, atau hubungi khidmat pelanggan.',
  },
  'verification.withdrawn': {
    en: 'Your verification was withdrawn. Contact support.',
    id: 'Verifikasi Anda dicabut. Hubungi layanan pelanggan.',
    ms: 'Pengesahan anda telah ditarik balik. Sila hubungi khidmat pelanggan.',
  },
  /** Follows every sentence that tells the user to contact support. */
  'support.at': {
    en: 'Support: {contact}',
    id: 'Layanan pelanggan: {contact}',
    ms: 'Khidmat pelanggan: {contact}',
  },
  'verification.reset': {
    en: 'Your verification was reset. Verify your identity again.',
    id: 'Verifikasi Anda diatur ulang. Silakan verifikasi ulang identitas Anda.',
    ms: 'Pengesahan anda telah ditetapkan semula. Sila sahkan identiti anda sekali lagi.',
  },
  'verification.none': {
    en: 'Verify your identity to top up, draw and send.',
    id: 'Verifikasi identitas Anda untuk top up, meminjam, dan transfer.',
    ms: 'Sahkan identiti anda untuk tambah nilai, membuat pinjaman dan pindahan.',
  },

  'due.in_time': {
    en: 'Repay by {dueAt}. A later repayment counts as late and lowers your credit score.',
    id: 'Bayar paling lambat {dueAt}. Pembayaran setelah itu dianggap terlambat dan menurunkan skor kredit Anda.',
    ms: 'Sila bayar sebelum atau pada {dueAt}. Bayaran selepas itu dikira lewat dan menurunkan skor kredit anda.',
  },
  'due.in_grace': {
    en: 'Your repayment was due on {dueAt}. Repay by {defaultsAt}, or your debt may be marked as defaulted.',
    id: 'Pinjaman Anda jatuh tempo pada {dueAt}. Bayar paling lambat {defaultsAt}, atau pinjaman Anda dapat dinyatakan gagal bayar.',
    ms: 'Tarikh akhir bayaran anda ialah {dueAt}. Sila bayar sebelum atau pada {defaultsAt}, atau pinjaman anda boleh diisytiharkan ingkar bayar.',
  },
  'due.after_grace': {
    en: 'Your repayment was due on {dueAt}. Repay now, or your debt may be marked as defaulted.',
    id: 'Pinjaman Anda jatuh tempo pada {dueAt}. Bayar sekarang, atau pinjaman Anda dapat dinyatakan gagal bayar.',
    ms: 'Tarikh akhir bayaran anda ialah {dueAt}. Sila bayar sekarang, atau pinjaman anda boleh diisytiharkan ingkar bayar.',
  },

  'held.collateral': {
    en: 'This payment can still be reversed, so it counts as collateral only after its hold ends.',
    id: 'Pembayaran ini masih dapat dibatalkan oleh bank atau penerbit kartu, sehingga baru menjadi jaminan setelah masa penahanan berakhir.',
    ms: 'Bayaran ini masih boleh ditarik balik, jadi ia dikira sebagai cagaran hanya selepas tempoh pegangan tamat.',
  },
  'held.repayment': {
    en: 'Your debt is repaid, but the payment can still be reversed, so this part of your limit is available again only after its hold ends.',
    id: 'Pinjaman Anda sudah lunas, tetapi pembayarannya masih dapat dibatalkan oleh bank atau penerbit kartu, sehingga bagian limit ini baru tersedia lagi setelah masa penahanan berakhir.',
    ms: 'Pinjaman anda telah dibayar sepenuhnya, tetapi bayaran itu masih boleh ditarik balik, jadi bahagian had ini tersedia semula hanya selepas tempoh pegangan tamat.',
  },
} as const satisfies Record<string, Text>
