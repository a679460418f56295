type Suppression = (error: unknown) => boolean

const suppressions = new WeakMap<object, Set<Suppression>>()

/**
 * Adds a test for errors that are symptoms of an outage. `outage.ts` logs the outage, and lines with such errors are
 * lowered to debug.
 */
export function addErrorSuppression(log: object, suppression: Suppression): void {
  const known = suppressions.get(log) ?? new Set()
  suppressions.set(log, known.add(suppression))
}

export function isSuppressed(log: object, error: unknown): boolean {
  const known = suppressions.get(log)
  return known !== undefined && [...known].some((holds) => holds(error))
}

export function* causesOf(error: unknown): Generator<Error> {
  let one = error
  for (let depth = 0; depth < 8 && one instanceof Error; depth++, one = one.cause) yield one
}
