type WaitingRead<I, O> = {
  readonly item: I
  readonly resolve: (done: O) => void
  readonly reject: (error: unknown) => void
}

/**
 * Groups single reads: requests that arrive during a call form the next one. If a call fails, its items are retried one
 * by one.
 */
export function multiRead<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  most: number,
): (item: I) => Promise<O> {
  let waiting: WaitingRead<I, O>[] = []
  let isWorking = false

  const doSome = async (some: readonly WaitingRead<I, O>[]): Promise<void> => {
    try {
      const done = await work(some.map(({ item }) => item))
      for (const [place, { resolve }] of some.entries()) resolve(done[place]!)
    } catch (error) {
      if (some.length === 1) return some[0]!.reject(error)
      for (const one of some) await doSome([one])
    }
  }
  const doAll = async () => {
    isWorking = true
    while (waiting.length > 0) {
      const some = waiting.slice(0, most)
      waiting = waiting.slice(most)
      await doSome(some)
    }
    isWorking = false
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (!isWorking) void doAll()
    })
}
