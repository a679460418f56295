type Excuse = (error: unknown) => boolean

const excuses = new WeakMap<object, Set<Excuse>>()

/** Errors that are symptoms of an outage: `outage.ts` logs it, and lines with such errors are lowered to debug. */
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
