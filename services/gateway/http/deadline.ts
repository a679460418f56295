import { within } from '#platform/deadline'

/** Deadline of reads and idempotent writes, in ms. It turns a hanging dependency into a 503 within 2 s. */
export const dependencyDeadlineMs = 1_800

/**
 * Deadline of orders, in ms. A shorter wait would turn accepted orders into 503s; their owners detect hanging
 * dependencies sooner.
 */
export const acceptingDeadlineMs = 10_000

/** Throws `DeadlinePassed`, which becomes a 503, if the work takes too long. */
export const inTime = <T>(work: Promise<T>, what: string): Promise<T> => within(work, dependencyDeadlineMs, what)
