/** Whether an error only says what was told already. */
export type Excuse = (error: unknown) => boolean

const excuses = new WeakMap<object, Set<Excuse>>()

/**
 * While something that is needed is away, whatever needs it fails, and each failure is the same news.
 * The outage is told by itself (`outage.ts`); lines about errors with an excuse are for debugging.
 */
export function addExcuse(log: object, excuse: Excuse): void {
  const known = excuses.get(log) ?? new Set()
  excuses.set(log, known.add(excuse))
}

/** Whether one of the log's excuses holds for the error now. */
export function isExcused(log: object, error: unknown): boolean {
  const known = excuses.get(log)
  return known !== undefined && [...known].some((holds) => holds(error))
}

/** The error, and what caused it, as deep as anybody wraps them. */
export function* causesOf(error: unknown): Generator<Error> {
  let one = error
  for (let depth = 0; depth < 8 && one instanceof Error; depth++, one = one.cause) yield one
}
