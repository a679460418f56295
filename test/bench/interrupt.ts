const interrupted = Promise.withResolvers<never>()
interrupted.promise.catch(() => {}) // A rejection without a pending bench is no error.

/** Termination signals reject `unlessInterrupted`, so that started processes are stopped. */
export function heedSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => interrupted.reject(new Error(`interrupted by ${signal}`)))
}

/** Throws on a termination signal, so that scopes are disposed in order. */
export const unlessInterrupted = <T>(work: Promise<T>): Promise<T> =>
  Promise.race([work, interrupted.promise])
