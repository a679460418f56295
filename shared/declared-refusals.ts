import type { Text } from '#shared/language/language'
import { midnight, midnightOfRinggit } from '#shared/language/time'

type DeclaredRefusal = {
  readonly status: 400 | 403 | 429 | 503
  /** Text for the user. Midnight is that of the country of the money, and written as in the language. */
  readonly text: Text
  /** Next step of an app, in Markdown. */
  readonly hint: string
  /** Time after which a retry may succeed: after midnight in the country of the money, or in an hour. `Retry-After` has the seconds. */
  readonly ends?: 'midnight' | 'hour'
}

/** Refusals. Services exchange only the code. */
export const refusals = {
  quote_unknown: {
    status: 400,
    text: {
      en: 'This quote is not valid. Request a new one.',
      id: 'Kurs ini tidak berlaku. Minta kurs baru.',
      ms: 'Kadar ini tidak sah. Sila minta kadar baharu.',
    },
    hint: 'Request a new quote. Quotes of other environments are unknown here too.',
  },
  quote_expired: {
    status: 400,
    text: {
      en: 'This quote has expired. Request a new one.',
      id: 'Kurs ini sudah kedaluwarsa. Minta kurs baru.',
      ms: 'Kadar ini telah tamat tempoh. Sila minta kadar baharu.',
    },
    hint: 'Request a new quote, show its rate, and let the user confirm again.',
  },
  quote_used: {
    status: 400,
    text: {
      en: 'This quote has already been used.',
      id: 'Kurs ini sudah digunakan.',
      ms: 'Kadar ini telah digunakan.',
    },
    hint:
      'An earlier request with another body, or from another wallet, used this quote. For a new order, ' +
      'request a new quote. A retry with the same body gets the first response, never this error.',
  },
  quote_not_idr: {
    status: 400,
    text: {
      en: 'Cash-outs require a USD/IDR quote.',
      id: 'Penarikan dana memerlukan kurs USD/IDR.',
      ms: 'Pengeluaran memerlukan kadar USD/IDR.',
    },
    hint: 'Cash-outs are paid in rupiah only: request a `USD/IDR` quote.',
  },
  cashout_rate_unavailable: {
    status: 400,
    text: {
      en: 'No cash-outs for now: the currency market is closed, or rate sources disagree. Try again on the next banking day.',
      id: 'Penarikan dana belum bisa dilakukan: pasar valuta asing tutup, atau sumber kurs berbeda. Coba lagi pada hari kerja bank berikutnya.',
      ms: 'Pengeluaran belum boleh dibuat: pasaran mata wang tutup, atau sumber kadar berbeza. Sila cuba lagi pada hari perbankan berikutnya.',
    },
    hint:
      'Offer the cash-out again on the next banking day, or a smaller one: `cashouts.marketClosed` in `GET /config` limits ' +
      'cash-outs until then. Ask for the quote of a cash-out with `use: pay_out`, so that this comes before the user signs.',
  },
  quote_for_cashouts: {
    status: 400,
    text: {
      en: 'This price is for cash-outs only. Get a new price.',
      id: 'Harga ini hanya untuk penarikan dana. Minta harga baru.',
      ms: 'Harga ini hanya untuk pengeluaran. Sila dapatkan harga baharu.',
    },
    hint:
      'Get a quote without `use: pay_out` for a top-up or a settlement. Only while cash-outs have a price of their own, ' +
      'as at weekends, is such a quote refused, so that an app may not notice before.',
  },
  rate_unavailable: {
    status: 503,
    text: {
      en: 'Exchange rate unavailable. Try again shortly.',
      id: 'Kurs sedang tidak tersedia. Coba beberapa saat lagi.',
      ms: 'Kadar pertukaran tidak tersedia. Sila cuba sebentar lagi.',
    },
    hint: 'Try again in a moment. No rate is offered while market data is unavailable.',
  },

  not_verified: {
    status: 403,
    text: {
      en: 'verify your identity first',
      id: 'Verifikasi identitas Anda terlebih dahulu',
      ms: 'Sila sahkan identiti anda dahulu',
    },
    hint:
      'Send the user to the URL returned by `POST /me/verification`. `verified` in `GET /me` becomes true ' +
      'once verification is complete.',
  },
  terms_not_accepted: {
    status: 403,
    text: {
      en: 'Accept the current terms of service first.',
      id: 'Setujui dulu ketentuan layanan yang berlaku.',
      ms: 'Sila terima terma perkhidmatan semasa dahulu.',
    },
    hint:
      'Show the page `terms.url` of `GET /config`. Once the user accepts it, send the header `Accepted-Terms` with ' +
      '`terms.version` on the next signed request; the acceptance is recorded, and later requests need no header. Debts can be ' +
      'repaid without it.',
  },
  not_in_pilot: {
    status: 403,
    text: {
      en: 'This service is open only to invited wallets for now. You can still repay what you owe.',
      id: 'Layanan ini sementara hanya untuk dompet yang diundang. Anda tetap bisa melunasi utang Anda.',
      ms: 'Perkhidmatan ini buat masa ini hanya untuk dompet yang dijemput. Anda masih boleh membayar hutang anda.',
    },
    hint:
      'During a pilot only invited wallets top up, verify and cash out; `invitedOnly` in `GET /config` says so. Do not offer ' +
      'these to other wallets. Settlements, repayments, withdrawals and sends are open to every wallet.',
  },
  wallet_frozen: {
    status: 403,
    text: {
      en: 'Wallet frozen: a payment was reversed. Top up by bank transfer or QR to repay it.',
      id: 'Dompet dibekukan: sebuah pembayaran dibatalkan oleh bank atau penerbit kartu. Top up lewat transfer bank atau QR untuk melunasinya.',
      ms: 'Dompet dibekukan: satu bayaran telah ditarik balik. Tambah nilai melalui pindahan bank atau QR untuk membayarnya.',
    },
    hint:
      'A payment was reversed after its hold. Ask the user to top up by `bank` or `qr` until the amount is ' +
      'repaid: the item in `GET /me/activity` shows how much is owed, and `frozen` in `GET /me` becomes false ' +
      'once it is repaid. Until then cards, draws, cash-outs and sends are refused.',
  },
  wallet_in_doubt: {
    status: 403,
    text: {
      en: 'Wallet frozen: a payment is being checked, for example because a refund or dispute is open. You owe nothing yet. Wait for the outcome, or contact support.',
      id: 'Dompet dibekukan: sebuah pembayaran sedang diperiksa, misalnya karena pengembalian dana atau sengketa belum selesai. Belum ada yang harus Anda bayar. Tunggu hasilnya, atau hubungi layanan pelanggan.',
      ms: 'Dompet dibekukan: satu bayaran sedang diperiksa, misalnya kerana bayaran balik atau pertikaian belum selesai. Anda belum perlu membayar apa-apa. Tunggu keputusannya, atau hubungi khidmat pelanggan.',
    },
    hint:
      'A refund or dispute of a payment is open; its item in `GET /me/activity` says so. Nothing is owed yet, and no top-up ' +
      'ends the freeze: `frozen` in `GET /me` becomes false once the refund or dispute has failed. If it succeeds, the ' +
      'refusal becomes `wallet_frozen`.',
  },

  amount_below_minimum_idr: {
    status: 400,
    text: {
      en: 'The minimum amount is Rp 10,000.',
      id: 'Jumlah minimum adalah Rp 10.000.',
      ms: 'Jumlah minimum ialah Rp 10,000.',
    },
    hint: 'Request at least Rp 10,000 (`"10000"`).',
  },
  amount_below_minimum_myr: {
    status: 400,
    text: {
      en: 'The minimum amount is RM 5.00.',
      id: 'Jumlah minimum adalah RM 5,00.',
      ms: 'Jumlah minimum ialah RM 5.00.',
    },
    hint: 'Request at least RM 5.00 (`"500"`, in sen).',
  },
  amount_above_maximum: {
    status: 400,
    text: {
      en: 'Amount exceeds the maximum of a payment.',
      id: 'Jumlah melebihi maksimum satu pembayaran.',
      ms: 'Jumlah melebihi had maksimum satu pembayaran.',
    },
    hint: 'Split the amount. Check the unit too: rupiah have no decimals, ringgit are in sen.',
  },

  amount_above_day_limit: {
    status: 400,
    text: {
      en: 'Amount exceeds the daily limit.',
      id: 'Jumlah melebihi limit harian.',
      ms: 'Jumlah melebihi had harian.',
    },
    hint: 'The amount is above the daily limit. Offer a smaller amount.',
  },
  topups_open_too_many: {
    status: 400,
    text: {
      en: 'You have too many open top-ups. Pay or cancel one, or wait for one to expire.',
      id: 'Terlalu banyak top up yang belum dibayar. Bayar atau batalkan salah satunya, atau tunggu sampai ada yang kedaluwarsa.',
      ms: 'Terlalu banyak transaksi tambah nilai yang belum dibayar. Bayar atau batalkan satu, atau tunggu sehingga ada yang tamat tempoh.',
    },
    hint: 'Ask the user to pay or cancel an open checkout, or wait until one expires.',
  },
  topups_open_too_much: {
    status: 400,
    text: {
      en: 'Your open top-ups exceed the limit. Pay or cancel one, or wait for one to expire.',
      id: 'Total top up yang belum dibayar melebihi limit. Bayar atau batalkan salah satunya, atau tunggu sampai ada yang kedaluwarsa.',
      ms: 'Jumlah tambah nilai yang belum dibayar melebihi had. Bayar atau batalkan satu, atau tunggu sehingga ada yang tamat tempoh.',
    },
    hint: 'Ask the user to pay or cancel an open checkout, wait until one expires, or offer a smaller amount.',
  },
  day_limit_reached: {
    status: 429,
    ends: 'midnight',
    text: {
      en: 'Daily limit reached. Try a smaller amount, or try again after midnight in Jakarta (in Kuala Lumpur for ringgit).',
      id: `Limit harian tercapai. Coba jumlah yang lebih kecil, atau coba lagi setelah pukul ${midnight.id} (untuk ringgit, pukul ${midnightOfRinggit.id}).`,
      ms: `Had harian telah dicapai. Sila cuba jumlah yang lebih kecil, atau sila cuba lagi selepas ${midnight.ms} (bagi ringgit ${midnightOfRinggit.ms}).`,
    },
    hint: 'Offer a smaller amount, or try again after midnight in the country of the payment (`Retry-After` has the seconds).',
  },
  day_limit_of_all_reached: {
    status: 429,
    ends: 'midnight',
    text: {
      en: "Today's limit for all users together is reached. Try a smaller amount, or try again after midnight in Jakarta.",
      id: `Limit harian untuk semua pengguna telah tercapai. Coba jumlah yang lebih kecil, atau coba lagi setelah pukul ${midnight.id}.`,
      ms: `Had harian bagi semua pengguna telah dicapai. Sila cuba jumlah yang lebih kecil, atau cuba lagi selepas ${midnight.ms}.`,
    },
    hint:
      'Offer a smaller amount, or try again after `Retry-After`. `dayAusdMaxOfAll` in `GET /config` limits the sum of all ' +
      'wallets. A debt that is due or older than a day can still be settled.',
  },
  topups_day_too_many: {
    status: 429,
    ends: 'midnight',
    text: {
      en: 'Too many top-ups today. Try again after midnight in Jakarta (in Kuala Lumpur for ringgit).',
      id: `Terlalu banyak top up hari ini. Coba lagi setelah pukul ${midnight.id} (untuk ringgit, pukul ${midnightOfRinggit.id}).`,
      ms: `Terlalu banyak tambah nilai hari ini. Sila cuba lagi selepas ${midnight.ms} (bagi ringgit ${midnightOfRinggit.ms}).`,
    },
    hint:
      'Offer a top-up again after midnight in the country of the payment (`Retry-After` has the seconds). ' +
      '`topups.dayCountMax` in `GET /config` is the limit.',
  },
  cashouts_refused_too_many: {
    status: 429,
    ends: 'midnight',
    text: {
      en: 'Banks have refused too many cash-outs of this wallet or to this account today. Check the details, and try again after midnight in Jakarta.',
      id: `Terlalu banyak penarikan dana dari dompet ini atau ke rekening ini yang ditolak bank hari ini. Periksa datanya, lalu coba lagi setelah pukul ${midnight.id}.`,
      ms: `Terlalu banyak pengeluaran daripada dompet ini atau ke akaun ini ditolak oleh bank hari ini. Semak butirannya, dan cuba lagi selepas ${midnight.ms}.`,
    },
    hint:
      'Show the reasons of the refused cash-outs from `GET /me/activity`, and ask the user to check the ' +
      'account number and name. Try again after `Retry-After`.',
  },
  account_checks_too_many: {
    status: 429,
    ends: 'midnight',
    text: {
      en: 'Too many account checks today. You can cash out without one, or try again after midnight in Jakarta.',
      id: `Terlalu banyak pemeriksaan rekening hari ini. Anda dapat menarik dana tanpa pemeriksaan, atau coba lagi setelah pukul ${midnight.id}.`,
      ms: `Terlalu banyak semakan akaun hari ini. Anda boleh membuat pengeluaran tanpa semakan, atau sila cuba lagi selepas ${midnight.ms}.`,
    },
    hint:
      'Let the user cash out without a check. `cashouts.checksPerDayMax` of `GET /config` has the limit of a ' +
      'wallet; a bank account has the same one over all wallets. Both reset at midnight in Jakarta.',
  },
  gas_budget_spent: {
    status: 429,
    ends: 'midnight',
    text: {
      en: 'Too many transfers today. Try again after midnight in Jakarta.',
      id: `Terlalu banyak transfer hari ini. Coba lagi setelah pukul ${midnight.id}.`,
      ms: `Terlalu banyak pindahan hari ini. Sila cuba lagi selepas ${midnight.ms}.`,
    },
    hint: 'The wallet has made too many transfers today. Try again after `Retry-After`.',
  },

  verification_limit_reached: {
    status: 429,
    ends: 'midnight',
    text: {
      en: 'Too many verification links today. Use the last one, or try again after midnight in Jakarta.',
      id: `Terlalu banyak tautan verifikasi hari ini. Gunakan tautan terakhir, atau coba lagi setelah pukul ${midnight.id}.`,
      ms: `Terlalu banyak pautan pengesahan hari ini. Gunakan pautan terakhir, atau sila cuba lagi selepas ${midnight.ms}.`,
    },
    hint: 'Open the last link again; it resumes the same verification. New links are available after midnight in Jakarta.',
  },
  statement_too_long: {
    status: 400,
    text: {
      en: 'This period has too many items for one statement. Choose a shorter one.',
      id: 'Transaksi dalam periode ini terlalu banyak untuk satu mutasi. Pilih periode yang lebih pendek.',
      ms: 'Terlalu banyak transaksi dalam tempoh ini untuk satu penyata. Pilih tempoh yang lebih pendek.',
    },
    hint: 'Request several shorter periods, one after the other: each closes with the opening balance of the next.',
  },
  export_limit_reached: {
    status: 429,
    text: {
      en: 'Too many exports today. Try again later.',
      id: 'Terlalu banyak ekspor hari ini. Coba lagi nanti.',
      ms: 'Terlalu banyak eksport hari ini. Sila cuba lagi kemudian.',
    },
    hint: 'Offer the last export again, or try again after `Retry-After` seconds.',
  },

  cancellation_unconfirmed: {
    status: 503,
    text: {
      en: 'The cancellation is not confirmed yet. The checkout may still be paid. Try again.',
      id: 'Pembatalan belum terkonfirmasi. Pembayaran ini mungkin masih bisa dibayar. Coba lagi.',
      ms: 'Pembatalan belum disahkan. Bayaran ini mungkin masih boleh dibuat. Sila cuba lagi.',
    },
    hint:
      'The provider has not said whether the checkout was cancelled or paid. Send the same request again; if it ' +
      'still fails, poll the item: it stays open, or shows how it ended.',
  },
  cancellations_too_many: {
    status: 429,
    ends: 'midnight',
    text: {
      en: 'Too many checkouts cancelled today. This one closes by itself if it is not paid.',
      id: 'Terlalu banyak pembatalan hari ini. Pembayaran ini akan berakhir sendiri jika tidak diselesaikan.',
      ms: 'Terlalu banyak pembatalan hari ini. Bayaran ini akan tamat sendiri jika tidak dilengkapkan.',
    },
    hint:
      'Leave the checkout open: it closes at its `expiresAt`. `checkout.cancellationsPerDayMax` of `GET /config` ' +
      'has the limit, which resets at midnight in the country of the payment.',
  },

  nothing_owed: {
    status: 400,
    text: {
      en: 'nothing is owed',
      id: 'Tidak ada pinjaman yang harus dibayar',
      ms: 'Tiada pinjaman yang perlu dibayar',
    },
    hint: 'There is no debt (`drawn` in `GET /me` is 0): do not offer a settlement.',
  },
  settlement_on_its_way: {
    status: 400,
    text: {
      en: 'A payment for this debt is already in progress.',
      id: 'Pembayaran untuk pinjaman ini sedang diproses.',
      ms: 'Bayaran untuk pinjaman ini sedang diproses.',
    },
    hint: 'An earlier checkout for this debt was paid. Wait for it in `GET /me/activity`.',
  },
  settlements_too_many: {
    status: 429,
    ends: 'hour',
    text: {
      en: 'Too many checkouts for this debt. Pay the open one, or try again in an hour.',
      id: 'Terlalu banyak pembayaran yang dibuka untuk pinjaman ini. Selesaikan yang masih terbuka, atau coba lagi dalam satu jam.',
      ms: 'Terlalu banyak bayaran dibuka untuk pinjaman ini. Lengkapkan yang masih terbuka, atau cuba lagi dalam masa satu jam.',
    },
    hint: 'Open the checkout of the last response, or try again after `Retry-After` seconds.',
  },
  debt_too_large: {
    status: 400,
    text: {
      en: 'The debt is too large to pay by checkout. First repay a part of it from the AUSD in your wallet.',
      id: 'Pinjaman terlalu besar untuk dibayar sekaligus. Bayar dulu sebagian langsung dari saldo AUSD di dompet Anda.',
      ms: 'Pinjaman terlalu besar untuk dibayar sekali gus. Bayar dahulu sebahagian terus daripada baki AUSD dalam dompet anda.',
    },
    hint:
      'Have the user repay part of it from their wallet: `approve`, then `repay(amount)` on the credit line. Or ' +
      '[in local currency](settle.md#pay-a-part-in-local-currency).',
  },
  debt_too_small: {
    status: 400,
    text: {
      en: 'The debt is too small to pay by checkout. Repay it from the AUSD in your wallet.',
      id: 'Pinjaman terlalu kecil untuk dibayar dengan cara ini. Bayar langsung dari saldo AUSD di dompet Anda.',
      ms: 'Pinjaman terlalu kecil untuk dibayar dengan cara ini. Bayar terus daripada baki AUSD dalam dompet anda.',
    },
    hint: 'Have the user repay from their wallet: `approve`, then `repay(amount)` on the credit line.',
  },

  wallet_not_from: {
    status: 400,
    text: {
      en: 'authorization.from must be your wallet',
      id: 'authorization.from harus dompet Anda',
      ms: 'authorization.from mestilah dompet anda',
    },
    hint: 'The signed-in wallet must be both the `from` address and the signer of the authorization.',
  },
  to_not_treasury: {
    status: 400,
    text: {
      en: 'authorization.to must be the treasury',
      id: 'authorization.to harus treasury',
      ms: 'authorization.to mestilah treasury',
    },
    hint: 'Sign a new authorization to `chain.treasury` from `GET /config`.',
  },
  to_zero: {
    status: 400,
    text: {
      en: 'This address cannot receive AUSD.',
      id: 'Alamat ini tidak dapat menerima AUSD.',
      ms: 'Alamat ini tidak boleh menerima AUSD.',
    },
    hint: 'Ask the user for a recipient and sign a new authorization.',
  },
  to_token: {
    status: 400,
    text: {
      en: 'This address cannot receive AUSD.',
      id: 'Alamat ini tidak dapat menerima AUSD.',
      ms: 'Alamat ini tidak boleh menerima AUSD.',
    },
    hint: 'The recipient is the token contract; AUSD sent there is lost. Sign a new authorization to another address.',
  },
  to_credit_line: {
    status: 400,
    text: {
      en: 'This address cannot receive AUSD.',
      id: 'Alamat ini tidak dapat menerima AUSD.',
      ms: 'Alamat ini tidak boleh menerima AUSD.',
    },
    hint: 'A transfer does not repay debt. Use a settlement, or call `repay` on the credit line.',
  },
  to_treasury: {
    status: 400,
    text: {
      en: 'This address cannot receive AUSD.',
      id: 'Alamat ini tidak dapat menerima AUSD.',
      ms: 'Alamat ini tidak boleh menerima AUSD.',
    },
    hint: 'To cash out to a bank, use `POST /cashouts`.',
  },
  to_self: {
    status: 400,
    text: {
      en: 'This is your own wallet.',
      id: 'Ini dompet Anda sendiri.',
      ms: 'Ini dompet anda sendiri.',
    },
    hint: 'Ask the user for another recipient and sign a new authorization.',
  },
  value_zero: {
    status: 400,
    text: {
      en: 'The amount must be more than 0.',
      id: 'Jumlah harus lebih dari 0.',
      ms: 'Jumlah mesti lebih daripada 0.',
    },
    hint: 'Sign a new authorization with `value` above 0.',
  },
  value_below_minimum: {
    status: 400,
    text: {
      en: 'The minimum transfer is 0.01 AUSD.',
      id: 'Transfer minimum adalah 0,01 AUSD.',
      ms: 'Pindahan minimum ialah 0.01 AUSD.',
    },
    hint: 'Offer a larger amount: `value` must be at least `"10000"` (0.01 AUSD).',
  },
  valid_before_too_near: {
    status: 400,
    text: {
      en: 'authorization.validBefore must be at least 5 minutes in the future',
      id: 'authorization.validBefore harus minimal 5 menit dari sekarang',
      ms: 'authorization.validBefore mesti sekurang-kurangnya 5 minit dari sekarang',
    },
    hint: 'Sign a new authorization with `validBefore` at least 5 minutes ahead; we recommend one hour.',
  },
  valid_before_past: {
    status: 400,
    text: {
      en: 'authorization.validBefore must be in the future',
      id: 'authorization.validBefore harus di masa depan',
      ms: 'authorization.validBefore mesti pada masa hadapan',
    },
    hint: 'Sign a new authorization. If a fresh one fails as well, the device clock is slow.',
  },
  valid_before_soon: {
    status: 400,
    text: {
      en: 'authorization.validBefore must be at least 60 seconds in the future',
      id: 'authorization.validBefore harus minimal 60 detik dari sekarang',
      ms: 'authorization.validBefore mesti sekurang-kurangnya 60 saat dari sekarang',
    },
    hint: 'Sign a new authorization with `validBefore` at least one minute ahead; we recommend one hour.',
  },
  valid_after_not_reached: {
    status: 400,
    text: {
      en: 'authorization.validAfter must be in the past',
      id: 'authorization.validAfter harus di masa lalu',
      ms: 'authorization.validAfter mesti pada masa lalu',
    },
    hint: 'Sign a new authorization with `validAfter` `"0"`.',
  },
  payout_below_minimum: {
    status: 400,
    text: {
      en: 'The minimum payout is Rp 10,000.',
      id: 'Penarikan dana minimum adalah Rp 10.000.',
      ms: 'Pengeluaran minimum ialah Rp 10,000.',
    },
    hint: 'Offer a larger amount: the bank must receive at least Rp 10,000 at the quoted rate.',
  },
  payout_below_bank_minimum: {
    status: 400,
    text: {
      en: 'The payout is below the minimum of this bank.',
      id: 'Jumlah penarikan di bawah minimum bank ini.',
      ms: 'Jumlah pengeluaran di bawah minimum bank ini.',
    },
    hint: 'Offer a larger amount or another bank: `GET /config` has the limits of each bank.',
  },
  payout_above_maximum: {
    status: 400,
    text: {
      en: 'The payout is above the maximum of this bank.',
      id: 'Jumlah penarikan di atas maksimum bank ini.',
      ms: 'Jumlah pengeluaran melebihi maksimum bank ini.',
    },
    hint: 'Offer a smaller amount or several cash-outs: `GET /config` has the limits of each bank.',
  },
  payout_not_in_increment: {
    status: 400,
    text: {
      en: 'This bank only accepts payouts in fixed increments. Change the amount.',
      id: 'Bank ini hanya menerima jumlah dalam kelipatan tertentu. Ubah jumlahnya.',
      ms: 'Bank ini hanya menerima jumlah dalam gandaan tertentu. Sila ubah jumlahnya.',
    },
    hint: 'Change the amount so that the rupiah are a multiple of `increment` of this bank in `GET /config`.',
  },
  bank_unknown: {
    status: 400,
    text: {
      en: 'This bank is not supported.',
      id: 'Bank ini belum didukung.',
      ms: 'Bank ini belum disokong.',
    },
    hint: 'Use a bank `code` from `cashouts.banks` of `GET /config` as `channelCode`.',
  },
  bank_account_format: {
    status: 400,
    text: {
      en: 'The account number has the wrong number of digits for this bank.',
      id: 'Jumlah digit nomor rekening tidak sesuai untuk bank ini.',
      ms: 'Bilangan digit nombor akaun tidak sesuai untuk bank ini.',
    },
    hint: 'Ask the user to check the account number: its length is wrong for this bank.',
  },
  bank_account_refused: {
    status: 400,
    text: {
      en: 'We do not pay out to this bank account. Use another one, or contact support.',
      id: 'Kami tidak membayar ke rekening bank ini. Gunakan rekening lain, atau hubungi layanan pelanggan.',
      ms: 'Kami tidak membuat bayaran ke akaun bank ini. Gunakan akaun lain, atau hubungi khidmat pelanggan.',
    },
    hint:
      'An operator has refused this bank account. Ask the user for another account of theirs, or send them to support; the ' +
      'same account is refused again.',
  },
  signature_invalid: {
    status: 400,
    text: {
      en: 'authorization.signature is not a valid signature of this transfer by authorization.from',
      id: 'authorization.signature bukan tanda tangan yang sah dari authorization.from untuk transfer ini',
      ms: 'authorization.signature bukan tandatangan yang sah daripada authorization.from untuk pindahan ini',
    },
    hint:
      'Sign `TransferWithAuthorization` (not `Receive…`) in the EIP-712 domain from `GET /config`, over ' +
      'exactly the values you send, as shown for the [cash-out](cash-out.md). A signature by any key other ' +
      'than that of `from` also gets this error.',
  },
  balance_too_low: {
    status: 400,
    text: {
      en: 'Your wallet does not hold enough AUSD.',
      id: 'Saldo AUSD Anda tidak cukup.',
      ms: 'Baki AUSD anda tidak mencukupi.',
    },
    hint: 'The wallet holds less than this, or part of its balance is committed to pending transfers: wait for those.',
  },
  nonce_used: {
    status: 400,
    text: {
      en: 'authorization.nonce has already been used or cancelled',
      id: 'authorization.nonce sudah digunakan atau dibatalkan',
      ms: 'authorization.nonce telah digunakan atau dibatalkan',
    },
    hint: 'Use 32 fresh random bytes for each transfer and sign again. If this was a retry, the transfer was made.',
  },
  authorization_conflict: {
    status: 400,
    text: {
      en: 'authorization.nonce has already been sent with different content',
      id: 'authorization.nonce sudah dikirim dengan isi yang berbeda',
      ms: 'authorization.nonce telah dihantar dengan kandungan yang berbeza',
    },
    hint: 'This nonce was already submitted with different content: sign again with a fresh nonce.',
  },

  provider_unavailable: {
    status: 503,
    text: {
      en: 'The payment provider is unavailable. Try again with the same quote.',
      id: 'Penyedia pembayaran sedang tidak tersedia. Coba lagi dengan kurs yang sama.',
      ms: 'Penyedia pembayaran tidak tersedia. Sila cuba lagi dengan kadar yang sama.',
    },
    hint: 'Send the same request again in a moment, with the same quote.',
  },
  payer_name_unavailable: {
    status: 503,
    text: {
      en: 'Your verified name, which bank transfers need, is not available right now. Try again with the same quote, or pay by card.',
      id: 'Nama terverifikasi Anda, yang diperlukan untuk transfer bank, sedang tidak tersedia. Coba lagi dengan kurs yang sama, atau bayar dengan kartu.',
      ms: 'Nama anda yang disahkan, yang diperlukan bagi pindahan bank, tidak tersedia buat masa ini. Sila cuba lagi dengan kadar yang sama, atau bayar dengan kad.',
    },
    hint:
      'Where the law wants the name of a payer by virtual account, the identity provider is asked for it, and it did not answer, ' +
      'or has none. Send the same request again, or offer `card`, which needs no name.',
  },
  treasury_short: {
    status: 503,
    text: {
      en: "We can't accept a top-up of this size right now. Try a smaller amount or try again later.",
      id: 'Saat ini kami belum dapat menerima top up sebesar ini. Coba jumlah yang lebih kecil atau coba lagi nanti.',
      ms: 'Kami belum dapat menerima tambah nilai sebesar ini sekarang. Sila cuba jumlah yang lebih kecil atau cuba lagi kemudian.',
    },
    hint: 'Offer a smaller amount, or try again later. Nothing was charged.',
  },
  treasury_empty: {
    status: 503,
    text: {
      en: "We can't settle this debt right now. Try again later, or repay it from the AUSD in your wallet.",
      id: 'Saat ini kami belum dapat melunasi pinjaman ini. Coba lagi nanti, atau bayar langsung dari saldo AUSD di dompet Anda.',
      ms: 'Kami belum dapat menerima bayaran pinjaman ini sekarang. Cuba lagi kemudian, atau bayar terus daripada baki AUSD dalam dompet anda.',
    },
    hint: 'Try again later, or have the user call `repay` from their wallet. Nothing was charged.',
  },
  payouts_short: {
    status: 503,
    text: {
      en: "We can't pay out that much rupiah right now. Try a smaller amount or try again later.",
      id: 'Saat ini kami belum dapat mencairkan rupiah sebanyak itu. Coba jumlah yang lebih kecil atau coba lagi nanti.',
      ms: 'Kami belum dapat membayar rupiah sebanyak itu sekarang. Sila cuba jumlah yang lebih kecil atau cuba lagi kemudian.',
    },
    hint: 'Offer a smaller amount, or try again later. No AUSD was taken.',
  },
  topups_paused: {
    status: 503,
    text: {
      en: 'Top-ups are temporarily paused. Try again later with a new quote.',
      id: 'Top up dihentikan sementara. Coba lagi nanti dengan kurs baru.',
      ms: 'Tambah nilai dihentikan buat sementara waktu. Sila cuba lagi kemudian dengan kadar baharu.',
    },
    hint: 'New top-ups are paused by an operator. Try again later with a new quote. Checkouts already paid are still processed.',
  },
  cashouts_paused: {
    status: 503,
    text: {
      en: 'Cash-outs are temporarily paused. Try again later with a new quote.',
      id: 'Penarikan dana dihentikan sementara. Coba lagi nanti dengan kurs baru.',
      ms: 'Pengeluaran dihentikan buat sementara waktu. Sila cuba lagi kemudian dengan kadar baharu.',
    },
    hint:
      'New cash-outs are paused. Try again later with a new quote and a new authorization. No AUSD was taken; ' +
      'cash-outs already accepted continue.',
  },
  ausd_paused: {
    status: 503,
    text: {
      en: 'The issuer of AUSD has paused transfers. Try again later.',
      id: 'Penerbit AUSD menghentikan sementara semua transfer. Coba lagi nanti.',
      ms: 'Pengeluar AUSD telah menghentikan pindahan buat sementara waktu. Sila cuba lagi kemudian.',
    },
    hint:
      'The issuer of AUSD has paused transfers of the token. Send the same authorization again later, while it is valid. ' +
      'Nothing was transferred.',
  },
  relaying_paused: {
    status: 503,
    text: {
      en: 'Transfers are temporarily paused. Try again later.',
      id: 'Transfer dihentikan sementara. Coba lagi nanti.',
      ms: 'Pindahan dihentikan buat sementara waktu. Sila cuba lagi kemudian.',
    },
    hint: 'Transfers are paused. Send the same authorization again later, while it is valid. Nothing was transferred.',
  },
  chain_unavailable: {
    status: 503,
    text: {
      en: 'The network is unavailable. Try again.',
      id: 'Jaringan sedang mengalami gangguan. Silakan coba lagi.',
      ms: 'Rangkaian sedang tergendala. Sila cuba lagi.',
    },
    hint: 'Try again in a moment.',
  },
  indexer_lags: {
    status: 503,
    text: {
      en: 'The credit record is not up to date. Try again later.',
      id: 'Riwayat kredit belum diperbarui. Coba lagi nanti.',
      ms: 'Rekod kredit belum dikemas kini. Sila cuba lagi kemudian.',
    },
    hint: 'Only for a statement: request it again later. The public record has `history: null` instead.',
  },
} as const satisfies Record<string, DeclaredRefusal>

/** Refusals about the request, its sender or the service rather than a business rule. Their texts name the field or the reason. */
export const generalRefusals = {
  bad_request: {
    status: 400,
    hint:
      'The message names the field and the expected form. Fix the request; resending it unchanged will ' +
      'fail again.',
  },
  sign_in_again: {
    status: 401,
    hint:
      'Sign a new session and retry; nothing was processed. If it happens again, check the device clock, ' +
      'that the signed text has the wallet in lower case, and that `until` is at most 7 days ahead. On ' +
      'webhooks, the `x-callback-token` or the signature of the delivery is missing or wrong.',
  },
  forbidden: {
    status: 403,
    hint: 'The message gives the reason. A new session does not help.',
  },
  not_found: {
    status: 404,
    hint: 'No such route, or the wallet has no item with this id. Check path, method and wallet.',
  },
  too_slow: {
    status: 408,
    hint: 'The body did not arrive in time, as on a slow network. Nothing was processed: send the same request again.',
  },
  too_large: {
    status: 413,
    hint: 'The limits are 64 KiB and 1,024 chunks, far above any valid body. Bodies over 1 MiB get a 413 without a body or a code.',
  },
  unsupported_encoding: {
    status: 415,
    hint: 'Send the body without compression.',
  },
  too_many_requests: {
    status: 429,
    hint: 'Wait for `Retry-After` seconds, then send the same request again.',
  },
  internal: {
    status: 500,
    hint:
      'Internal error (logged). The request may or may not have been processed; retrying it is safe. If it ' +
      'persists, send the `x-request-id` of the response to support.',
  },
  unavailable: {
    status: 503,
    hint:
      'A dependency did not respond in time; the request may or may not have been processed. Retry the ' +
      'identical request (same quote, same signature) after `Retry-After`; it is idempotent.',
  },
} as const satisfies Record<string, Pick<DeclaredRefusal, 'hint'> & { readonly status: number }>
