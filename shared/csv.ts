const number = /^-?\d+(\.\d+)?$/

/** Formats a cell of CSV (RFC 4180), and prefixes one that a spreadsheet would read as a formula. A number stays as it is. */
export function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !number.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
