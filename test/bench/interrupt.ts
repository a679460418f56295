const interrupted = Promise.withResolvers<never>()
interrupted.promise.catch(() => {}) // Heard by whoever works at that moment, or by nobody.

/** From now on a signal that asks to end lets go of what was started, instead of leaving it. */
export function heedSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => interrupted.reject(new Error(`ended by ${signal}`)))
}

/** The outcome of the work; throws as soon as a signal asks to end, so that scopes are left in order. */
export const unlessInterrupted = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([work, interrupted.promise])
