import { within } from '#platform/deadline'

/** Only for reads and idempotent writes. A hanging dependency becomes a 503 within 2 s. */
export const dependencyDeadlineMs = 1_800

/** A shorter wait would turn accepted orders into 503s; owners detect hanging dependencies first. */
export const acceptingDeadlineMs = 10_000

/** Throws `Overdue`, which becomes a 503. */
export const inTime = <T>(work: Promise<T>, what: string): Promise<T> => within(work, dependencyDeadlineMs, what)
