const interrupted = Promise.withResolvers<never>()
interrupted.promise.catch(() => {}) // A rejection without a pending bench is no error.

export function heedSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => interrupted.reject(new Error(`interrupted by ${signal}`)))
}

/** Throws on a termination signal, so that scopes are disposed. */
export const unlessInterrupted = <T>(work: Promise<T>): Promise<T> => Promise.race([work, interrupted.promise])
