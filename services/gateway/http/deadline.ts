import { within } from '#platform/deadline'

/**
 * Maximum wait for a dependency (Postgres, NATS, another service). A hanging dependency becomes a 503
 * within 2 s, so that requests do not pile up. Used only for reads and idempotent writes.
 */
export const dependencyDeadlineMs = 1_800

/**
 * Maximum wait once the owner has received a top-up, settlement, cash-out or send. A shorter wait would
 * turn accepted orders into 503s. The owner itself detects hanging dependencies before it accepts.
 */
export const acceptingDeadlineMs = 10_000

/** Waits up to `dependencyDeadlineMs`; then throws `Overdue`, which becomes a 503. */
export const inTime = <T>(work: Promise<T>, what: string): Promise<T> =>
  within(work, dependencyDeadlineMs, what)
