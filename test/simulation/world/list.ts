import type { Listed } from '#shared/provider/transactions'

/** The transactions of a provider in the order in which they were last changed. */
export class List {
  readonly #rows: Listed[] = []

  push(row: Listed): void {
    this.#rows.push(row)
  }

  /** Those that changed then or later. */
  since(from: Date): Listed[] {
    const rows = this.#rows
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (rows[middle]!.updated! < from) low = middle + 1
      else high = middle
    }
    return rows.slice(low)
  }
}
