import { expect } from 'bun:test'
import type { Database, Tx } from '#platform/db/open'
import { pause } from '#platform/deadline'
import { type Choices, chance, oneOf, pick, seeded } from '../world/choices'
import { Rows } from './rows'
import { handleOf } from './table'

// The same random calls of the real stores and of their stand-ins must return the same, so that the simulation's proof
// holds for the product.

/** A call of a function that store and stand-in have under the same name. */
export type StoreCall = { readonly name: string; readonly given: readonly unknown[] }
export type Maker = (choices: Choices) => StoreCall

export const hourMs = 3_600_000
export const walletOf = (number: number) => `0x${String(number).padStart(40, '0')}` as const

export function timeFrom(choices: Choices): Date | null {
  if (chance(choices, 200)) return null
  return new Date(Math.floor(Date.now() / hourMs) * hourMs + (oneOf(choices, 7) - 3) * 2 * hourMs)
}

type Store = Record<string, (db: unknown, ...given: readonly unknown[]) => Promise<unknown>>

async function outcomeOf(run: () => Promise<unknown>, isSilent: boolean): Promise<unknown> {
  try {
    const made = await run()
    // The row of a statement that was sent ahead is known after the commit.
    const value = typeof made === 'function' ? made() : made
    return isSilent ? 'done' : comparable(value)
  } catch {
    return 'refused'
  }
}

/** Columns with times by either clock, which are compared only as present. */
const ownTimes = [
  'createdAt',
  'notBefore',
  'updatedAt',
  'changedAt',
  'topupAt',
  'clearedAt',
  'openingUntil',
  'leasedAt',
  'attemptedAt',
  'requestedAt',
  'decidedAt',
  'countedAt',
  'ageMs',
]
function comparable(value: unknown): unknown {
  if (value instanceof Set) return [...value].sort()
  if (value instanceof Date || typeof value !== 'object' || value === null) return value ?? null
  if (Array.isArray(value)) return value.map(comparable).sort((left, right) => (textOf(left) < textOf(right) ? -1 : 1))
  return Object.fromEntries(
    Object.entries(value)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, one]) => [
        key,
        ownTimes.includes(key) && one
          ? 'a time'
          : key === 'nextCheckAt' || key === 'watchAt'
            ? nearest(one)
            : comparable(one),
      ]),
  )
}
/** Rounds a time; a lease ends half a minute after the call. */
const nearest = (time: unknown) => (time instanceof Date ? Math.round(time.getTime() / hourMs) : (time ?? null))
const textOf = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))

export type Compared = {
  readonly real: object
  readonly standIns: object
  readonly makers: readonly Maker[]
  /** Names of functions whose results are not used. */
  readonly silent: readonly string[]
}

const steps = 800

export async function compare(database: Database, compared: Compared, seed: number) {
  const { real, standIns, makers, silent } = compared
  const choices = seeded(seed)
  const rows = new Rows(() => Date.now())
  for (let step = 0; step < steps; step++) {
    const { name, given } = pick(choices, makers)(choices)
    const isSilent = silent.includes(name)
    const stored = await outcomeOf(
      () => database.transaction((tx: Tx) => (real as Store)[name]!(tx, ...given)),
      isSilent,
    )
    const simulated = await outcomeOf(async () => (standIns as Store)[name]!(handleOf(rows), ...given), isSilent)
    expect({ step, name, given, outcome: simulated }).toEqual({
      step,
      name,
      given,
      outcome: stored,
    })
    await nextMillisecond()
  }
}

/**
 * Waits for the next millisecond. Postgres rounds a stored time to milliseconds, also up, and a time of now must not
 * lie ahead of the next call.
 */
async function nextMillisecond(): Promise<void> {
  const before = Date.now()
  while (Date.now() === before) await pause(0)
}

/** Returns the sorted names of the stand-ins that no call compares. */
export function notCompared({ real, standIns, makers }: Compared): string[] {
  const called = new Set(makers.map((make) => make(seeded(1)).name))
  return Object.keys(standIns)
    .filter((name) => name in real && !called.has(name))
    .sort()
}
