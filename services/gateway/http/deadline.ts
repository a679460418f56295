import { within } from '#shared/deadline'

/**
 * How long a request waits for one thing it depends on (Postgres, NATS, another service): its caller
 * is told 503 within 2 s, so that callers do not pile up behind what hangs. Everything waited for so
 * long may be done again: reads, and writes that come to the same.
 */
export const dependencyDeadlineMs = 1_800

/**
 * A top-up, settlement, cash-out or send that its owner has received may be accepted at any moment:
 * cut short, its success would be told as 503. The owner finds what hangs before it accepts.
 */
export const acceptingDeadlineMs = 10_000

/** Waits for a dependency that long; then throws `Overdue`, which is answered with 503. */
export const inTime = <T>(work: Promise<T>, what: string): Promise<T> =>
  within(work, dependencyDeadlineMs, what)
