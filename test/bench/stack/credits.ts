import postgres from 'postgres'
import type { Stack } from '#infra/local/stack'
import { pause, within } from '#platform/deadline'

const lookEveryMs = 20
const lookAtAllEveryMs = 1_000
/** Window in ms of the frequent query; the full query finds rows that are committed later. */
const recentMs = 500

/**
 * Watches credits in the database, because polling the gateway would add load. Its cost does not depend on the number
 * awaited.
 */
export function watchCredits(stack: Stack, waitMaxMs = 120_000) {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} })
  const awaited = new Map<string, (at: number) => void>()
  const ended = new AbortController()
  const readCredited = (isWhole: boolean) =>
    isWhole
      ? sql<{ id: string }[]>`
          select id from payments.payments
          where id = any(${[...awaited.keys()]}) and state = 'credited'`
      : sql<{ id: string }[]>`
          select id from payments.payments
          where credited_at > ${new Date(Date.now() - recentMs)} and state = 'credited'`
  const look = async (isWhole: boolean) => {
    const rows = await readCredited(isWhole)
    const at = performance.now()
    for (const { id } of rows) {
      awaited.get(id)?.(at)
      awaited.delete(id)
    }
  }
  const looking = (async () => {
    let wholeAt = performance.now()
    while (!ended.signal.aborted) {
      const isWhole = performance.now() - wholeAt > lookAtAllEveryMs
      if (isWhole) wholeAt = performance.now()
      if (awaited.size > 0) await look(isWhole)
      await pause(lookEveryMs, ended.signal)
    }
  })()
  return {
    /** Returns the time of a credit by `performance.now()`. */
    creditedAt: (id: string): Promise<number> => {
      const { promise, resolve } = Promise.withResolvers<number>()
      awaited.set(id, resolve)
      return within(promise, waitMaxMs, `the credit of ${id}`)
    },
    [Symbol.asyncDispose]: async () => {
      ended.abort()
      await looking
      await sql.end()
    },
  }
}
