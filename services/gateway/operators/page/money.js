const currencies = { IDR: ['Rp', 0], MYR: ['RM', 2] }

/** Inserts separators and the decimal point; amounts stay strings, because `number` loses precision. */
function withPoint(digits, decimals) {
  const negative = digits.startsWith('-')
  const padded = digits.replace('-', '').padStart(decimals + 1, '0')
  const whole = padded.slice(0, padded.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',')
  const rest = decimals === 0 ? '' : `.${padded.slice(-decimals)}`
  return `${negative ? '−' : ''}${whole}${rest}`
}

/** Formats an amount of AUSD: 3076923 is "3.076923 AUSD". */
export const ausd = (micro) => `${withPoint(String(micro), 6)} AUSD`

/** Formats a fiat amount: 50000 of IDR is "Rp 50,000", 500 of MYR is "RM 5.00". */
export function fiat({ minor, currency }) {
  const [sign, decimals] = currencies[currency] ?? [currency, 0]
  return `${sign} ${withPoint(String(minor), decimals)}`
}
