import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Env } from '#infra/local/environment'
import type { Stack } from '#infra/local/stack'
import { serviceNames } from '#shared/messages/topic'
import { ownStack, quickChecks } from '../support/stack'

export type World = AsyncDisposable & {
  readonly stack: Stack
  readonly outside: ExternalControls
  readonly sql: Sql
  /** Kills the next process at each boundary in turn. */
  readonly arm: (boundaries: readonly string[]) => void
  readonly disarm: () => void
  readonly left: () => string[]
  readonly closing: (what: AsyncDisposable) => void
}

export type Terms = Readonly<Partial<Record<'payments' | 'payouts', Env>>> & {
  readonly holdSeconds?: number
}

/** Usual hold in seconds, which fits within a trial and leaves time for a kill before its last check. */
const usualHoldSeconds = 5

const quickEnv = {
  gateway: { IDENTITY_RECHECK_OPEN_MS: '1000' },
  // A quote is requested before its item starts and must outlive restarts.
  pricing: { QUOTE_TTL_MS: '300000' },
  'chain-relayer': {},
  'indexer-reader': {},
  payments: { ...quickChecks.payments, HOLD_MARGIN_MS: '2000', RECHECK_AFTER_MS: '1500' },
  payouts: {
    ...quickChecks.payouts,
    RECHECK_AFTER_MS: '1500',
    CASHOUT_REFUSED_DAY_MAX: '1000000', // The limit is high because a few users repeat every path.
  },
  sandbox: { ...quickChecks.sandbox, PAYOUT_SETTLE_MS: '300' },
}

/** Settings in which payments polls each checkout and payouts reads the list first. */
export const otherLists: Terms = {
  payments: { PROVIDER_LIST_LATEST_EVERY_MS: '0', LIST_EVERY_MS: '3600000' },
  payouts: { LIST_EVERY_MS: '300', RECHECK_AFTER_MS: '5000' },
}

export async function openWorld(terms: Terms = {}): Promise<World> {
  const dir = mkdtempSync(join(tmpdir(), 'failpoints-'))
  const file = join(dir, 'failpoints')
  const envOf = (name: keyof typeof quickEnv) => ({
    ...quickEnv[name],
    ...(name === 'payments' || name === 'payouts' ? terms[name] : {}),
  })
  const armed = (name: (typeof serviceNames)[number]) => [name, { ...envOf(name), FAILPOINT_FILE: file }] as const
  const stack = await ownStack({
    terms: { holdSeconds: terms.holdSeconds ?? usualHoldSeconds, minCycleSeconds: 0 },
    env: { ...Object.fromEntries(serviceNames.map(armed)), sandbox: envOf('sandbox') },
    restMaxMs: 100,
    ackWaitMs: 4_000,
    proxied: true,
  })
  const sql = postgres(stack.adminUrl, { max: 2, onnotice: () => {} })
  const ends: AsyncDisposable[] = []
  const left = () => (existsSync(file) ? linesOf(file) : [])
  return {
    stack,
    sql,
    left,
    outside: outsideOf(stack.info),
    closing: (what) => void ends.push(what),
    arm: (boundaries) => writeWhole(file, boundaries),
    disarm: () => rmSync(file, { force: true }),
    [Symbol.asyncDispose]: async () => {
      for (const end of ends) await end[Symbol.asyncDispose]()
      await sql.end({ timeout: 1 })
      await stack[Symbol.asyncDispose]()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').trim().split('\n')

/** Replaces a file atomically, since processes may read it at any time. */
function writeWhole(file: string, lines: readonly string[]): void {
  writeFileSync(`${file}.draft`, `${lines.join('\n')}\n`)
  renameSync(`${file}.draft`, file)
}
