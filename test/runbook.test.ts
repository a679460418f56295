import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rules } from '#infra/books/rules/catalogue'
import type { Limits } from '#shared/overdue'
import { limitsOf, lifecycle as operation } from '../services/chain-relayer/operations/operation'
import { limits as identityLimits } from '../services/gateway/identity/identity'
import {
  limits as paymentLimits,
  settlementLifecycle,
  topupLifecycle,
} from '../services/payments/payment'
import { lifecycle as cashout, limits as cashoutLimits } from '../services/payouts/cashout'

type Table = Limits<string>
const tables: [string, Record<string, readonly string[]>, Table][] = [
  ['payments', { ...topupLifecycle, ...settlementLifecycle }, paymentLimits],
  ['payouts', cashout, cashoutLimits],
  ['chain-relayer', operation, limitsOf(300_000)],
]

describe.each(tables)('how long something of %s may be in a state', (_, lifecycle, limits) => {
  test('is said of every state, and of no other', () => {
    expect(Object.keys(limits).sort()).toEqual(Object.keys(lifecycle).sort())
  })

  test('has an end wherever something is to follow, unless it says why nothing need', () => {
    for (const [state, next] of Object.entries(lifecycle)) {
      const limit = limits[state]!
      if ('rests' in limit) expect(limit.rests).not.toBe('')
      else expect([state, next.length > 0, limit.afterMs > 0]).toEqual([state, true, true])
    }
  })
})

describe('the runbook', () => {
  const runbook = readFileSync(join(import.meta.dir, '../infra/README.md'), 'utf8')
  const chapter = runbook.split(/^## /m).find((one) => one.startsWith('When something is under'))!
  const rows = [...chapter.matchAll(/^\| `([^`]+)` \| [^|]+ \| ([^|]+) \|$/gm)]
  const all = [...tables.map(([, , limits]) => limits), identityLimits as Table]
  const alarms = all.flatMap((limits) =>
    Object.values(limits).flatMap((limit) => ('alarm' in limit ? [limit.alarm] : [])),
  )

  test('has a line for each alarm, and none for another', () => {
    expect(rows.map(([, alarm]) => alarm!).sort()).toEqual([...new Set(alarms)].sort())
  })

  test('has a line for each rule of the books, and none for another', () => {
    const books = runbook.split(/^## /m).find((one) => one.startsWith('When the books'))!
    const named = [...books.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, name]) => name!)
    expect(named).toEqual(rules.map(({ name }) => name))
  })
})
