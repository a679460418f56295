import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'

// Every call that posts something, read from the sources, and the suite that turns red without it.
// `bun test/postings/postings.ts [words]` takes out each call in turn (those whose name has the words),
// runs its suite and puts the call back.

export const root = join(import.meta.dir, '../..')
const places = [
  'services/**/*.ts',
  'shared/ledger/*.ts',
  'infra/ops/**/*.ts',
  'infra/books/**/*.ts',
]

/** A call of `book`, `bookTo`, `bookChange` or the like, or of `reverse` with a transaction. */
const call = /(?<!function )\b(?:book(?:[A-Z]\w*)?|reverse(?=\(tx))\(/g

/** One call: its file, its line without blanks around it, and where it stands in the text. */
export type Call = { readonly name: string; readonly path: string; readonly at: number }

/** All calls. A line that stands twice in its file is told apart by a number. */
export function calls(): Call[] {
  const found: Call[] = []
  for (const pattern of places)
    for (const path of new Glob(pattern).scanSync(root)) {
      if (path.endsWith('.test.ts')) continue
      const text = readFileSync(join(root, path), 'utf8')
      const seen = new Map<string, number>()
      for (const { index } of text.matchAll(call)) {
        const start = text.lastIndexOf('\n', index) + 1
        const line = text.slice(start, text.indexOf('\n', index)).trim()
        const times = (seen.get(line) ?? 0) + 1
        seen.set(line, times)
        found.push({ name: `${path}: ${line}${times > 1 ? ` #${times}` : ''}`, path, at: index })
      }
    }
  return found.sort((a, b) => a.name.localeCompare(b.name))
}

const payments = 'services/payments/books'
const payouts = 'services/payouts/books'
const relayer = 'services/chain-relayer'
const outside = 'infra/books/outside'

/** By the name of the call: the suite that proves it. */
export const proofs: Readonly<Record<string, string>> = {
  'infra/books/outside/booking.ts: await book(tx, journal, { event, item, lines: back, reverses })': `${outside}/treasury.test.ts`,
  'infra/books/outside/booking.ts: await book(tx, journal, { event, item, lines: difference(before.lines, lines) })': `${outside}/treasury.test.ts`,
  'infra/books/outside/booking.ts: else if (booked.has(item)) await reverse(tx, item, event)': `${outside}/treasury.test.ts`,
  'infra/books/outside/lanes.ts: await book(tx, journal, {': `${outside}/lanes.test.ts`,
  'infra/books/outside/lanes.ts: if (!(await withJournal(database, (tx) => bookLane(tx, reading)))) behind.push(reading)': `${outside}/lanes.test.ts`,
  'infra/books/outside/names.ts: await bookMoves(': `${outside}/treasury.test.ts`,
  'infra/books/outside/accept.ts: await bookItems(tx, [item], (_, { isAccepted }) =>': `${outside}/treasury.test.ts`,
  'infra/books/outside/accept.ts: await bookItems(tx, [item], (_, { isAccepted }) => (isAccepted ? undefined : { event, lines }))': `${outside}/provider.test.ts`,
  'infra/books/outside/accept.ts: return bookItems(tx, [...byItem.keys()], (item, { isAccepted }) => {': `${outside}/provider.test.ts`,
  'infra/books/outside/provider.ts: await bookAccepted(tx, moved)': `${outside}/provider.test.ts`,
  'infra/books/outside/provider.ts: await bookFees(tx, moved)': `${outside}/provider.test.ts`,
  'infra/books/outside/provider.ts: await bookItems(tx, [...byItem.keys()], (item) => {': `${outside}/provider.test.ts`,
  'infra/books/outside/provider.ts: await bookItems(tx, [item], (_, { lines: booked }) =>': `${outside}/provider.test.ts`,
  'infra/books/outside/treasury.ts: await bookItems(tx, [...byItem.keys()], (item, { isAccepted }) => {': `${outside}/treasury.test.ts`,
  'infra/books/outside/treasury.ts: const waiting = await bookMoves(tx, { place: context.place, nowMs }, moves)': `${outside}/treasury.test.ts`,
  'infra/books/read.ts: await bookLanes(context, lanes)': 'infra/books/read.test.ts',
  'infra/books/read.ts: await bookTreasury(context, block)': 'infra/books/read.test.ts',
  "infra/ops/restore/put-back.ts: if (settled.count === 1 && one.kind === 'giveback') await bookGiveback(tx, one)":
    'infra/ops/restore/lane-posting.test.ts',
  'infra/ops/restore/put-back.ts: if (stored.count === 1) await bookTransaction(tx, transaction)':
    'infra/ops/restore/lane-posting.test.ts',
  'services/chain-relayer/books/book.ts: bookBeside(journal, {': `${relayer}/books/booked.test.ts`,
  'services/chain-relayer/books/book.ts: return book(tx, journal, { event: kind, item: cause, lines: positionOfDone(operation) })': `${relayer}/givebacks/take-up.test.ts`,
  'services/chain-relayer/operations/order.ts: ...settled.map((operation) => bookOperation(tx, operation)),': `${relayer}/givebacks/take-up.test.ts`,
  'services/chain-relayer/transactions/conclude.ts: const booked = bookTransaction(transaction, concluded, operations)': `${relayer}/books/booked.test.ts`,
  'infra/ops/correct.ts: const made = await drizzle(sql).transaction((tx) => reverse(tx, journal, { posting, reason }))':
    'infra/ops/correct.test.ts',
  "infra/ops/restore/posting.ts: if (row.provider_payment_id) await bookAs(tx, 'payments', row.provider_payment_id, [])":
    'test/failures/put-back.ci.test.ts',
  "infra/ops/restore/posting.ts: await bookAs(tx, 'payments', row.id, [":
    'test/failures/put-back.ci.test.ts',
  "infra/ops/restore/posting.ts: await bookAs(tx, 'payouts', id, [taken, ...owed])":
    'test/failures/put-back.ci.test.ts',
  'infra/ops/restore/put-back.ts: for (const { id, facts } of what.paid) await bookPayments(tx, await updatePaid(tx, id, facts))':
    'test/failures/put-back.ci.test.ts',
  'infra/ops/restore/put-back.ts: for (const row of what.payments) await bookPayments(tx, await insertPayment(tx, row))':
    'test/failures/put-back.ci.test.ts',
  'infra/ops/restore/put-back.ts: for (const row of what.payouts) await bookPayouts(tx, await insertPayout(tx, row))':
    'test/failures/put-back.ci.test.ts',
  'services/payments/advance.ts: const booked = bookStep(payment, after)': `${payments}/book.test.ts`,
  "services/payments/books/book.ts: await bookTo(tx, journal, { event: 'money of no payment', item, lines })": `${payments}/suspense.test.ts`,
  'services/payments/books/book.ts: bookBeside(journal, {': `${payments}/book.test.ts`,
  'services/payments/books/book.ts: book(tx, journal, {': `${payments}/book.test.ts`,
  'services/payments/books/book.ts: bookTo(tx, journal, {': `${payments}/suspense.test.ts`,
  'services/payments/books/book.ts: bookTo(tx, journal, { #2': `${payments}/suspense.test.ts`,
  "services/payments/books/book.ts: bookTo(tx, journal, { event: 'money found its payment', item, lines: [] })": `${payments}/suspense.test.ts`,
  "services/payments/checks/hold.ts: await bookChange(tx, row, { ...row, ...set }, 'hold ended')": `${payments}/book.test.ts`,
  "services/payments/receive.ts: await bookChange(tx, payment, { ...payment, overpaidRefundedMinor }, 'second payment refunded')": `${payments}/suspense.test.ts`,
  "services/payments/receive.ts: await bookChange(tx, payment, after, 'paid a second time')": `${payments}/suspense.test.ts`,
  "services/payments/receive.ts: await bookChange(tx, payment, after, 'refund counted')": `${payments}/book.test.ts`,
  'services/payments/receive.ts: if (isBooked) await bookMatched(tx, charge)': `${payments}/suspense.test.ts`,
  'services/payments/receive.ts: await bookUnmatched(tx, charge)': `${payments}/suspense.test.ts`,
  "services/payments/receive.ts: if (waiting) await bookChange(tx, payment, waiting, 'late money came')": `${payments}/book.test.ts`,
  'services/payments/refunds/reversal.ts: await bookGivenUp(tx, stored)': `${payments}/suspense.test.ts`,
  'services/payments/refunds/reversal.ts: for (const cleared of await clearMissing(tx, wallet)) await bookGivenUp(tx, cleared)': `${payments}/suspense.test.ts`,
  "services/payments/transactions.ts: await bookChange(tx, payment, { ...payment, ...set }, 'dispute won')": `${payments}/suspense.test.ts`,
  'services/payments/transactions.ts: await bookListed(tx, { transactionId, account, currency, minor })': `${payments}/suspense.test.ts`,
  'services/payouts/advance.ts: if (after) await bookStep(tx, before, after)': `${payouts}/book.test.ts`,
  "services/payouts/books/book.ts: await bookTo(tx, journal, { event: 'payout of nobody', item, lines })": `${payouts}/suspense.test.ts`,
  "services/payouts/books/book.ts: await bookTo(tx, journal, { event: 'payout that does not fit', item, lines })": `${payouts}/suspense.test.ts`,
  'services/payouts/books/book.ts: book(tx, journal, {': `${payouts}/book.test.ts`,
  "services/payouts/books/book.ts: bookTo(tx, journal, { event: 'payout that fits', item, lines: [] })": `${payouts}/suspense.test.ts`,
  'services/payouts/receive.ts: await bookFitting(tx, evidence)': `${payouts}/suspense.test.ts`,
  'services/payouts/receive.ts: await bookOdd(tx, evidence, cashout)': `${payouts}/suspense.test.ts`,
  'services/payouts/receive.ts: await bookOdd(tx, evidence)': `${payouts}/suspense.test.ts`,
  'services/payouts/transactions.ts: await bookListed(tx, row)': `${payouts}/suspense.test.ts`,
  'shared/ledger/journal.store.ts: await bookAll(tx, journal, event, new Map([[item, lines]]))': `${payments}/suspense.test.ts`,
  'shared/ledger/keeping.ts: await bookCorrected(keeping)': `${payouts}/tables.test.ts`,
  "shared/ledger/keeping.ts: const booked = rows.size === 0 ? 0 : await bookAll(tx, journal, 'opening', rows)": `${payouts}/tables.test.ts`,
  'shared/ledger/keeping.ts: if (!isOpen) await bookOpening(keeping)': `${payouts}/tables.test.ts`,
  "shared/ledger/keeping.ts: if (wanted) await bookAll(tx, journal, 'booked anew', new Map([[one.item, wanted]]))": `${payouts}/tables.test.ts`,
}

async function takeOut({ name, path, at }: Call): Promise<boolean> {
  const file = join(root, path)
  const text = readFileSync(file, 'utf8')
  const without = text
    .slice(at)
    .replace(/^\w+\(/, '(async (..._: unknown[]) => undefined as never)(')
  try {
    writeFileSync(file, text.slice(0, at) + without)
    const suite = Bun.spawn(
      [process.execPath, 'test', `./${proofs[name]}`, '--timeout', '40000', '--bail'],
      {
        ...{ cwd: root, stdout: 'ignore', stderr: 'ignore' },
      },
    )
    return (await suite.exited) !== 0
  } finally {
    writeFileSync(file, text)
  }
}

if (import.meta.main) {
  const words = process.argv[2] ?? ''
  for (const one of calls().filter(({ name }) => name.includes(words))) {
    const isRed = proofs[one.name] ? await takeOut(one) : false
    console.log(`${isRed ? 'red  ' : 'GREEN'}  ${one.name}  ${proofs[one.name] ?? 'no proof'}`)
    if (!isRed) process.exitCode = 1
  }
}
