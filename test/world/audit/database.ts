import type { Book, Evidence, Ledger } from '../evidence'
import { leaksIn } from './leaks'
import { announcedIn } from './messages'
import { moneyOf, sum } from './payments'

/** Checks that the services have no unfinished row and no published message that is in no stream, and wrote no secret. */
export function auditDatabase({ database, written }: Evidence, ledger: Ledger): void {
  const { unfinished, published, stored } = database
  for (const { what, state, dueAt } of unfinished)
    ledger.find(`${what} is ${state}${dueAt ? '' : ', promised without a deadline'}`)
  const { noted, missing } = announcedIn(published, stored)
  if (noted > 0) ledger.count('messages published', noted)
  for (const sentence of missing) ledger.find(sentence)
  for (const leak of new Set(leaksIn(written.texts, written.secrets))) ledger.find(leak)
}

/**
 * Judges the services' own books. A difference that names an item which rightly waits for an operator is expected. So is an
 * account that disputes have overdrawn at the provider itself.
 */
export function auditBooks(
  { database, book }: Evidence,
  waiting: readonly { readonly id: string }[],
  ledger: Ledger,
): void {
  const ringgit = ringgitLeft(book)
  for (const words of database.breaks) {
    const isOverdrawn = ringgit < 0n && words.endsWith(`the balance of provider_my is ${ringgit}`)
    if (isOverdrawn || waiting.some(({ id }) => words.includes(id))) ledger.count('expected differences')
    else ledger.find(`the services' own books: ${words}`)
  }
}

/** Returns what payments left at the provider in ringgit (minor units). It holds no other ringgit: no cash-out is paid in them. */
function ringgitLeft(book: Book): bigint {
  const payments = (book.payments ?? []).filter(({ currency }) => currency === 'MYR')
  const ids = new Set(payments.map((one) => one.session_reference_id as string))
  return sum([...ids].map((id) => moneyOf(id, book)).map(({ capturedMinor, backMinor }) => capturedMinor - backMinor))
}
