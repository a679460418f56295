/** Events in block order, indexed by subject. */
export class Facts<Fact extends { readonly block: bigint }> {
  #all: Fact[] = []
  #found = new Map<string, Fact[]>()

  constructor(private readonly textsOf: (fact: Fact) => readonly string[]) {}

  get all(): readonly Fact[] {
    return this.#all
  }

  get subjects(): readonly string[] {
    return [...this.#found.keys()]
  }

  push(fact: Fact): void {
    this.#all.push(fact)
    for (const text of this.textsOf(fact)) {
      const known = this.#found.get(text)
      if (known) known.push(fact)
      else this.#found.set(text, [fact])
    }
  }

  about(text: string): readonly Fact[] {
    return this.#found.get(text) ?? none
  }

  forgetAbove(block: bigint): void {
    if ((this.#all.at(-1)?.block ?? 0n) <= block) return
    const kept = this.#all.filter((fact) => fact.block <= block)
    this.#all = []
    this.#found.clear()
    for (const fact of kept) this.push(fact)
  }
}

const none: readonly never[] = []
