import type { Listed } from '#shared/provider/transactions'

export class List {
  readonly #rows: Listed[] = []

  readonly #latest = new Map<string, Listed>()

  push(row: Listed): void {
    this.#rows.push(row)
    this.#latest.set(row.transactionId, row)
  }

  since(fromMs: number): Listed[] {
    const rows = this.#rows
    let [low, high] = [0, rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (rows[middle]!.updated!.getTime() < fromMs) low = middle + 1
      else high = middle
    }
    return rows.slice(low).filter((row) => this.#latest.get(row.transactionId) === row)
  }
}
