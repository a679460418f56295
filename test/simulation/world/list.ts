import type { Listed } from '#shared/provider/transactions'

/** The provider's list of transactions, ordered by last update. */
export class List {
  readonly #rows: Listed[] = []

  push(row: Listed): void {
    this.#rows.push(row)
  }

  /** Returns the transactions updated at or after this time. */
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
