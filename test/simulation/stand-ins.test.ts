import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Glob } from 'bun'
import { loads, namedImports, reachedFrom } from '../imports'
import { replaced, root, standIns } from './stand-ins'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** A function runs a statement if its first parameter is a database or a transaction. */
const statement =
  /^export (?:const (\w+)(?:: [^=]+)? = (?:async )?|async function (\w+)|function (\w+))(?:<[^(]*>)?\(\s*(?:db|tx|database)\b/gm
const statementsIn = (path: string): string[] =>
  [...read(path).matchAll(statement)].map(([, ...names]) => names.find((name) => name !== undefined)!)

const isStore = (path: string) => path.endsWith('.store.ts') || path in standIns
const reached = reachedFrom(root, ['test/simulation/run.ts', 'test/simulation/walk/all.ts'], loads)
const simulated = [...reached.files].filter((path) => /^(services|shared)\//.test(path))

/** Functions of stores that simulated code imports, as `file: function`. */
const called = new Set(
  simulated
    .filter((path) => !isStore(path))
    .flatMap((path) => namedImports(path, read(path)))
    .filter(({ file, name }) => isStore(file) && statementsIn(file).includes(name))
    .map(({ file, name }) => `${file}: ${name}`),
)
const replacing = new Set(
  replaced.flatMap(({ path, names }) => names.map((name) => `${relative(root, path)}: ${name}`)),
)

/** No flow of a simulated world calls these functions. */
const notSimulated: Readonly<Record<string, readonly string[]>> = {
  // They handle unsolicited deposits to the treasury.
  'services/chain-relayer/lanes/lane.store.ts': ['isAttempt'],
  // The second one counts drips for a refill, which only a look at an account orders.
  'services/chain-relayer/operations/wallet.store.ts': ['findTakesBy', 'otherDrips'],
  'services/chain-relayer/unsolicited-deposits/request.store.ts': ['decideRequest', 'findAsked', 'recordRequest'],
  // Only operators cause them.
  'services/payments/losses/refund.store.ts': ['countFrozen', 'sumMissing'],
  'services/payouts/cashout.store.ts': ['holdUnpaidTo', 'listCashouts', 'listUnpaidTo'],
  'services/payouts/request/refusal.store.ts': ['findRefusalNamed', 'storeRefusal'],
  'shared/platform/db/pause.store.ts': ['setPause'],
  // They read lists and metrics.
  'services/payments/queries/activity.store.ts': ['countPayments', 'listActivity', 'oldestPayments'],
  'services/payouts/queries/activity.store.ts': ['countStates', 'findListed', 'listActivity', 'oldestCashouts'],
  'services/payouts/schema.store.ts': ['countAnomalies'],
  'shared/platform/db/dead-letter.store.ts': ['askRedrive', 'countDead', 'dismiss'],
  'shared/platform/db/outbox.store.ts': ['outboxLag'],
  'shared/provider/listing.store.ts': ['listingAgeMs'],
  // They sum the promises of payments and payouts.
  'services/payments/treasury/promise.store.ts': ['findOwed', 'storeOwed'],
  'services/payouts/treasury/promise.store.ts': ['sumPromisedAusd'],
  // They check bank accounts.
  'services/payouts/account-check/check.store.ts': [
    'countChecks',
    'countChecksOf',
    'countChecksTo',
    'findCheck',
    'insertCheck',
    'storeVerdict',
  ],
}

test('every statement that simulated code calls has a stand-in, or is outside the scope', () => {
  const outside = Object.entries(notSimulated).flatMap(([file, names]) => names.map((name) => `${file}: ${name}`))
  const lacking = [...called].filter((one) => !replacing.has(one))
  expect(lacking.sort()).toEqual(outside.sort())
})

test('every function of a stand-in replaces one of the services, or is used by the simulation', () => {
  const own = [...new Glob('test/simulation/**/*.ts').scanSync(root)]
  const used = new Set(
    own.flatMap((path) => namedImports(path, read(path))).map(({ file, name }) => `${file}: ${name}`),
  )
  const replacements = new Set(
    replaced.flatMap(({ from, names }) => names.map((name) => `${relative(root, from)}: ${name}`)),
  )
  const idle = [...new Set(Object.values(standIns))]
    .map((path) => `test/simulation/${path}`)
    .flatMap((path) =>
      [...read(path).matchAll(/^export (?:const|async function|function) (\w+)/gm)].map(
        ([, name]) => `${path}: ${name}`,
      ),
    )
    .filter((one) => !replacements.has(one) && !used.has(one))
  expect(idle).toEqual([])
})
