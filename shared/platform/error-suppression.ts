/** True if this error is a symptom of an outage already logged. */
type Excuse = (error: unknown) => boolean

const excuses = new WeakMap<object, Set<Excuse>>()

/**
 * While a dependency is down, everything that needs it fails for the same reason: `outage.ts` logs it, and
 * lines with an excused error are lowered to debug.
 */
export function addExcuse(log: object, excuse: Excuse): void {
  const known = excuses.get(log) ?? new Set()
  excuses.set(log, known.add(excuse))
}

export function isExcused(log: object, error: unknown): boolean {
  const known = excuses.get(log)
  return known !== undefined && [...known].some((holds) => holds(error))
}

export function* causesOf(error: unknown): Generator<Error> {
  let one = error
  for (let depth = 0; depth < 8 && one instanceof Error; depth++, one = one.cause) yield one
}
