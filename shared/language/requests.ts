import type { Text } from '#shared/language/language'
import type { Form } from '#shared/messages/form'
import { amountDigitsMax } from '#shared/money/money'

const formTexts = {
  'form.amount': {
    en: `{field} must be a string of 1 to ${amountDigitsMax} digits, in the smallest unit`,
    id: `{field} harus berupa teks 1 sampai ${amountDigitsMax} angka, dalam satuan terkecil`,
    ms: `{field} mesti berupa teks 1 hingga ${amountDigitsMax} digit, dalam unit terkecil`,
  },
  'form.address': {
    en: '{field} must be an address: 0x and 40 hex digits',
    id: '{field} harus berupa alamat: 0x dan 40 digit heksadesimal',
    ms: '{field} mesti berupa alamat: 0x dan 40 digit heksadesimal',
  },
  'form.hash': {
    en: '{field} must be 32 bytes: 0x and 64 hex digits',
    id: '{field} harus 32 byte: 0x dan 64 digit heksadesimal',
    ms: '{field} mesti 32 bait: 0x dan 64 digit heksadesimal',
  },
  'form.uuid': {
    en: '{field} must be a uuid',
    id: '{field} harus berupa uuid',
    ms: '{field} mesti berupa uuid',
  },
  'form.unix_seconds': {
    en: '{field} must be unix seconds as a string of digits',
    id: '{field} harus berupa detik unix sebagai teks angka',
    ms: '{field} mesti berupa saat unix sebagai teks digit',
  },
  'form.pair': {
    en: '{field} must be USD/IDR or USD/MYR',
    id: '{field} harus USD/IDR atau USD/MYR',
    ms: '{field} mesti USD/IDR atau USD/MYR',
  },
  'form.method': {
    en: '{field} must be bank, card or qr',
    id: '{field} harus bank, card atau qr',
    ms: '{field} mesti bank, card atau qr',
  },
  'form.country': {
    en: '{field} must be an ISO 3166-1 alpha-2 code in upper case',
    id: '{field} harus berupa kode ISO 3166-1 alpha-2 dengan huruf besar',
    ms: '{field} mesti berupa kod ISO 3166-1 alpha-2 dengan huruf besar',
  },
  'form.signature': {
    en: '{field} must be a signature: 0x and at least 64 bytes of hex',
    id: '{field} harus berupa tanda tangan: 0x dan minimal 64 byte heksadesimal',
    ms: '{field} mesti berupa tandatangan: 0x dan sekurang-kurangnya 64 bait heksadesimal',
  },
  'form.object': {
    en: '{field} must be an object',
    id: '{field} harus berupa objek',
    ms: '{field} mesti berupa objek',
  },
  'form.bank_code': {
    en: '{field} must be an Indonesian bank code such as ID_BCA',
    id: '{field} harus berupa kode bank Indonesia seperti ID_BCA',
    ms: '{field} mesti berupa kod bank Indonesia seperti ID_BCA',
  },
  'form.account_number': {
    en: '{field} must be 6 to 20 digits',
    id: '{field} harus 6 sampai 20 angka',
    ms: '{field} mesti 6 hingga 20 digit',
  },
  'form.holder_name': {
    en: "{field} must be 1 to 100 Latin letters, digits, spaces or . , ' - / & @ ( ), with at least one letter",
    id: "{field} harus 1 sampai 100 huruf Latin, angka, spasi atau . , ' - / & @ ( ), dengan minimal satu huruf",
    ms: "{field} mesti 1 hingga 100 huruf Latin, digit, ruang atau . , ' - / & @ ( ), dengan sekurang-kurangnya satu huruf",
  },
  'form.whole_settlement': {
    en: '{field} is not a known field: a settlement pays the whole debt; to pay a part, top up and call repayFromCollateral',
    id: '{field} bukan kolom yang dikenal: pelunasan membayar seluruh pinjaman; untuk membayar sebagian, lakukan top up lalu panggil repayFromCollateral',
    ms: '{field} bukan medan yang dikenali: bayaran penuh meliputi seluruh pinjaman; untuk membayar sebahagian, tambah nilai dan panggil repayFromCollateral',
  },
} as const satisfies Record<`form.${Form}`, Text>

/** Texts of the gateway itself, about the request, its session or the service. */
export const requestTexts = {
  ...formTexts,
  field_missing: {
    en: '{field} is missing',
    id: '{field} tidak ada',
    ms: '{field} tiada',
  },
  field_unknown: {
    en: '{field} is not a known field',
    id: '{field} bukan kolom yang dikenal',
    ms: '{field} bukan medan yang dikenali',
  },
  field_invalid: {
    en: '{field} has an invalid value',
    id: '{field} memiliki nilai yang tidak valid',
    ms: '{field} mempunyai nilai yang tidak sah',
  },
  body_not_object: {
    en: 'the body must be a JSON object',
    id: 'isi permintaan harus berupa objek JSON',
    ms: 'kandungan permintaan mesti berupa objek JSON',
  },
  body_mismatch: {
    en: 'the body does not match the schema',
    id: 'isi permintaan tidak sesuai skema',
    ms: 'kandungan permintaan tidak mengikut skema',
  },
  body_not_json: {
    en: 'the body is not valid JSON',
    id: 'isi permintaan bukan JSON yang valid',
    ms: 'kandungan permintaan bukan JSON yang sah',
  },
  body_incomplete: {
    en: 'the body is incomplete',
    id: 'isi permintaan tidak lengkap',
    ms: 'kandungan permintaan tidak lengkap',
  },
  body_late: {
    en: 'the body did not arrive in time',
    id: 'isi permintaan tidak diterima tepat waktu',
    ms: 'kandungan permintaan tidak diterima tepat pada masanya',
  },
  body_too_large: {
    en: 'the body is larger than 64 KiB',
    id: 'isi permintaan lebih besar dari 64 KiB',
    ms: 'kandungan permintaan lebih besar daripada 64 KiB',
  },
  body_too_many_chunks: {
    en: 'the body has more than 1,024 chunks',
    id: 'isi permintaan lebih dari 1.024 potongan',
    ms: 'kandungan permintaan melebihi 1,024 bahagian',
  },
  body_encoded: {
    en: 'Content-Encoding is not supported: send the body as it is',
    id: 'Content-Encoding tidak didukung: kirim isi permintaan apa adanya',
    ms: 'Content-Encoding tidak disokong: hantar kandungan permintaan seadanya',
  },
  content_type: {
    en: 'Content-Type must be application/json',
    id: 'Content-Type harus application/json',
    ms: 'Content-Type mesti application/json',
  },
  host_missing: {
    en: 'the Host header names no host',
    id: 'header Host tidak menyebut host',
    ms: 'pengepala Host tidak menamakan hos',
  },

  limit_range: {
    en: 'limit must be a number from 1 to 100',
    id: 'limit harus berupa angka dari 1 sampai 100',
    ms: 'limit mesti berupa nombor dari 1 hingga 100',
  },
  cursor_invalid: {
    en: 'cursor is invalid: use nextCursor of the previous page',
    id: 'cursor tidak valid: gunakan nextCursor dari halaman sebelumnya',
    ms: 'cursor tidak sah: gunakan nextCursor daripada halaman sebelumnya',
  },
  period_time: {
    en: '{field} must be a date or a time with its zone, as in 2026-11-21 or 2026-11-21T17:00:00Z',
    id: '{field} harus berupa tanggal atau waktu dengan zonanya, seperti 2026-11-21 atau 2026-11-21T17:00:00Z',
    ms: '{field} mesti berupa tarikh atau masa dengan zonnya, seperti 2026-11-21 atau 2026-11-21T16:00:00Z',
  },
  period_order: {
    en: 'from must be before to',
    id: 'from harus sebelum to',
    ms: 'from mesti sebelum to',
  },
  period_too_long: {
    en: 'a statement covers at most {days} days',
    id: 'satu mutasi mencakup paling banyak {days} hari',
    ms: 'satu penyata meliputi paling banyak {days} hari',
  },
  format_unknown: {
    en: 'format must be json or csv',
    id: 'format harus json atau csv',
    ms: 'format mesti json atau csv',
  },

  session_missing: {
    en: 'the Authorization header is missing: sign in again',
    id: 'header Authorization tidak ada: silakan masuk kembali',
    ms: 'pengepala Authorization tiada: sila log masuk semula',
  },
  session_too_long: {
    en: 'the Authorization header is too long: sign in again',
    id: 'header Authorization terlalu panjang: silakan masuk kembali',
    ms: 'pengepala Authorization terlalu panjang: sila log masuk semula',
  },
  session_scheme: {
    en: 'the Authorization header must begin with Service: sign in again',
    id: 'header Authorization harus diawali Service: silakan masuk kembali',
    ms: 'pengepala Authorization mesti bermula dengan Service: sila log masuk semula',
  },
  session_form: {
    en: 'the Authorization header must be Service <wallet>.<until>.<signature>: sign in again',
    id: 'header Authorization harus Service <wallet>.<until>.<signature>: silakan masuk kembali',
    ms: 'pengepala Authorization mesti Service <wallet>.<until>.<signature>: sila log masuk semula',
  },
  session_wallet: {
    en: 'the session wallet is not an address: sign in again',
    id: 'dompet dalam sesi bukan alamat: silakan masuk kembali',
    ms: 'dompet dalam sesi bukan alamat: sila log masuk semula',
  },
  session_until: {
    en: 'until in the session is not a unix time in seconds: sign in again',
    id: 'until dalam sesi bukan waktu unix dalam detik: silakan masuk kembali',
    ms: 'until dalam sesi bukan masa unix dalam saat: sila log masuk semula',
  },
  session_expired: {
    en: 'the session has expired: sign in again',
    id: 'sesi Anda telah berakhir: silakan masuk kembali',
    ms: 'sesi anda telah tamat: sila log masuk semula',
  },
  session_too_far: {
    en: 'until in the session is more than 7 days ahead: sign in again',
    id: 'until dalam sesi lebih dari 7 hari ke depan: silakan masuk kembali',
    ms: 'until dalam sesi melebihi 7 hari ke hadapan: sila log masuk semula',
  },
  session_signature: {
    en: 'the session signature must be 0x and 130 hex digits, or more for a contract wallet: sign in again',
    id: 'tanda tangan sesi harus berupa 0x dan 130 digit heksadesimal, atau lebih untuk dompet kontrak: silakan masuk kembali',
    ms: 'tandatangan sesi mesti 0x dan 130 digit heksadesimal, atau lebih untuk dompet kontrak: sila log masuk semula',
  },
  session_foreign: {
    en: 'the session was not signed by its wallet: sign in again',
    id: 'sesi tidak ditandatangani oleh dompetnya: silakan masuk kembali',
    ms: 'sesi tidak ditandatangani oleh dompetnya: sila log masuk semula',
  },

  not_found: {
    en: 'not found',
    id: 'tidak ditemukan',
    ms: 'tidak dijumpai',
  },
  item_not_found: {
    en: 'You have no item with this id.',
    id: 'Anda tidak memiliki transaksi dengan id ini.',
    ms: 'Anda tiada transaksi dengan id ini.',
  },
  method_not_allowed: {
    en: '{method} is not allowed here',
    id: '{method} tidak diizinkan di sini',
    ms: '{method} tidak dibenarkan di sini',
  },
  too_many_requests: {
    en: 'too many requests, slow down',
    id: 'terlalu banyak permintaan, coba beberapa saat lagi',
    ms: 'terlalu banyak permintaan, sila cuba sebentar lagi',
  },
  internal: {
    en: 'something went wrong',
    id: 'maaf, terjadi kesalahan; silakan coba lagi',
    ms: 'maaf, berlaku ralat; sila cuba lagi',
  },
  busy: {
    en: 'the service is busy, try again',
    id: 'layanan sedang sibuk, coba lagi',
    ms: 'perkhidmatan sedang sibuk, sila cuba lagi',
  },
  busy_for_a_moment: {
    en: 'the service is busy, try again in a moment',
    id: 'layanan sedang sibuk, coba beberapa saat lagi',
    ms: 'perkhidmatan sedang sibuk, sila cuba sebentar lagi',
  },
  not_ready: {
    en: 'not ready',
    id: 'belum siap',
    ms: 'belum sedia',
  },
  /** This text follows the refusal of a wallet that has not accepted the terms. */
  terms_version: {
    en: '(version {version}: {url})',
    id: '(versi {version}: {url})',
    ms: '(versi {version}: {url})',
  },
  /** This text follows the refusal of a paused operation. */
  paused_since: {
    en: '(paused since {since})',
    id: '(dihentikan sejak {since})',
    ms: '(dihentikan sejak {since})',
  },
  verification_unavailable: {
    en: 'identity verification is temporarily unavailable, try again',
    id: 'verifikasi identitas sedang tidak tersedia, coba lagi',
    ms: 'pengesahan identiti tidak tersedia buat sementara waktu, sila cuba lagi',
  },

  callback_token: {
    en: 'x-callback-token is missing or unknown',
    id: 'x-callback-token tidak ada atau tidak dikenal',
    ms: 'x-callback-token tiada atau tidak dikenali',
  },
  delivery_signature: {
    en: 'the signature of this delivery is missing or wrong',
    id: 'tanda tangan kiriman ini tidak ada atau salah',
    ms: 'tandatangan hantaran ini tiada atau salah',
  },
  delivery_unrecorded: {
    en: 'the delivery cannot be recorded right now, send it again',
    id: 'kiriman ini belum dapat dicatat, kirim lagi',
    ms: 'hantaran ini belum dapat direkodkan, sila hantar lagi',
  },
} as const satisfies Record<string, Text>
