import type { Evidence, Ledger } from '../evidence'
import { leaksIn } from './leaks'
import { announcedIn } from './messages'

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

/** Judges the services' own books. A difference that names an item which rightly waits for an operator is expected. */
export function auditBooks({ database }: Evidence, waiting: readonly { readonly id: string }[], ledger: Ledger): void {
  for (const words of database.breaks) {
    if (waiting.some(({ id }) => words.includes(id))) ledger.count('expected differences')
    else ledger.find(`the services' own books: ${words}`)
  }
}
