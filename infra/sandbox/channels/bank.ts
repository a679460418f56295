/** Bank or e-wallet that payouts can reach. Limits are in whole rupiah. */
export type Bank = {
  readonly code: string
  readonly category: 'BANK' | 'EWALLET'
  readonly name: string
  readonly minMinor: bigint
  readonly maxMinor: bigint
}

type Limits = readonly [minMinor: bigint, maxMinor: bigint]

// Maximum of the provider's sample row for a bank without a maximum.
const noMost = 1_999_999_999_999n
const ordinary: Limits = [10_000n, 100_000_000n]
const biFast: Limits = [5_000n, 250_000_000n]

const named = new Map<string, readonly [name: string, ...limits: Limits]>([
  ['BCA', ['Bank Central Asia', 1n, noMost]],
  ['MANDIRI', ['Bank Mandiri', 1n, noMost]],
  ['BNI', ['Bank Negara Indonesia', 1n, noMost]],
  ['BRI', ['Bank Rakyat Indonesia', 1n, noMost]],
  ['PERMATA', ['Bank Permata', 1n, noMost]],
  ['CIMB', ['Bank CIMB Niaga', 10_000n, noMost]],
  ['SINARMAS', ['Bank Sinarmas', 10_000n, noMost]],
  ['SAHABAT_SAMPOERNA', ['Bank Sahabat Sampoerna', 1n, 1_000_000_000n]],
  ['BSI', ['Bank Syariah Indonesia', 10_000n, noMost]],
  ['BTN', ['Bank Tabungan Negara', ...biFast]],
  ['DANAMON', ['Bank Danamon', ...biFast]],
  ['DBS', ['Bank DBS Indonesia', ...biFast]],
  ['JAGO', ['Bank Jago', ...biFast]],
  ['OCBC', ['Bank OCBC', ...biFast]],
  ['PANIN', ['Bank Panin', ...biFast]],
  ['UOB', ['Bank UOB Indonesia', ...biFast]],
  ['BCA_DIGITAL', ['blu by BCA Digital', ...ordinary]],
  ['SEABANK', ['SeaBank', ...ordinary]],
  ['TABUNGAN_PENSIUNAN_NASIONAL', ['BTPN / Jenius', ...ordinary]],
  ['GOPAY', ['GoPay', 10_000n, 20_000_000n]],
  ['LINKAJA', ['LinkAja', 10_000n, 10_000_000n]],
  ['OVO', ['OVO', 1n, 20_000_000n]],
  ['DANA', ['DANA', 1n, 20_000_000n]],
  ['SHOPEEPAY', ['ShopeePay', 1n, 20_000_000n]],
])

const ewallets = ['DANA', 'GOPAY', 'LINKAJA', 'OVO', 'SHOPEEPAY']

// Codes from a live integration.
const bankCodes = `
  ACEH ACEH_UUS AGRONIAGA ALADIN ALLO AMAR ANZ ARTHA BALI BAML BANTEN BCA BCA_DIGITAL BCA_SYR
  BENGKULU BISNIS_INTERNASIONAL BJB BJB_SYR BNC BNI BNP_PARIBAS BOC BRI BSI BTN BTN_UUS
  BTPN_SYARIAH BUKOPIN BUKOPIN_SYR BUMI_ARTA CAPITAL CCB CHINATRUST CIMB CIMB_UUS CITIBANK
  COMMONWEALTH DAERAH_ISTIMEWA DAERAH_ISTIMEWA_UUS DANAMON DANAMON_UUS DBS DEUTSCHE
  DINAR_INDONESIA DKI DKI_UUS FAMA GANESHA HANA HSBC HSBC_UUS IBK ICBC INA_PERDANA INDEX_SELINDO
  INDIA JAGO JAMBI JAMBI_UUS JASA_JAKARTA JAWA_TENGAH JAWA_TENGAH_UUS JAWA_TIMUR JAWA_TIMUR_UUS
  JPMORGAN JTRUST KALIMANTAN_BARAT KALIMANTAN_BARAT_UUS KALIMANTAN_SELATAN KALIMANTAN_SELATAN_UUS
  KALIMANTAN_TENGAH KALIMANTAN_TIMUR KALIMANTAN_TIMUR_UUS LAMPUNG MALUKU MANDIRI MANDIRI_TASPEN
  MASPION MAYAPADA MAYBANK MAYORA MEGA MEGA_SYR MESTIKA_DHARMA MIZUHO MNC_INTERNASIONAL MUAMALAT
  MULTI_ARTA_SENTOSA NATIONALNOBU NUSA_TENGGARA_BARAT NUSA_TENGGARA_TIMUR OCBC OCBC_UUS OKE PANIN
  PANIN_SYR PAPUA PERMATA PERMATA_UUS PRIMA_MASTER QNB_INDONESIA RABOBANK RESONA RIAU_DAN_KEPRI
  SAHABAT_SAMPOERNA SBI_INDONESIA SEABANK SHINHAN SINARMAS SINARMAS_UUS STANDARD_CHARTERED
  SULAWESI SULAWESI_TENGGARA SULSELBAR SULSELBAR_UUS SULUT SUMATERA_BARAT SUMATERA_BARAT_UUS
  SUMSEL_DAN_BABEL SUMSEL_DAN_BABEL_UUS SUMUT SUMUT_UUS TABUNGAN_PENSIUNAN_NASIONAL TOKYO UOB
  VICTORIA_INTERNASIONAL VICTORIA_SYR WOORI`
  .trim()
  .split(/\s+/)

const bankOf = (stem: string, category: Bank['category']): Bank => {
  const [name, minMinor, maxMinor] = named.get(stem) ?? [titleCase(stem), ...ordinary]
  return { code: `ID_${stem}`, category, name, minMinor, maxMinor }
}

const titleCase = (stem: string): string =>
  `Bank ${stem.replaceAll('_', ' ').replace(/\B\w+/g, (rest) => rest.toLowerCase())}`

export const banks: readonly Bank[] = [
  ...bankCodes.map((stem) => bankOf(stem, 'BANK')),
  ...ewallets.map((stem) => bankOf(stem, 'EWALLET')),
].sort((a, b) => (a.code < b.code ? -1 : 1))
