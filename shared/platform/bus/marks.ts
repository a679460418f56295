/** Delay in ms until items are written, so that one statement writes many. */
const afterMs = 500

export type Marks<T> = {
  readonly mark: (item: T) => void
  /** Writes all collected items without waiting any longer. */
  readonly flush: () => Promise<void>
}

/** Collects items that `write` stores a moment later. Those of a process that dies first are lost, so nothing may depend on them. */
export function openMarks<T>(write: (items: readonly T[]) => Promise<unknown>): Marks<T> {
  let items: T[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    const marked = items
    items = []
    if (marked.length > 0) await write(marked)
  }
  return {
    mark: (item) => {
      items.push(item)
      timer ??= setTimeout(flush, afterMs)
    },
    flush,
  }
}
