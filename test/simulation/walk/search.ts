export type Model<State> = {
  readonly start: State
  /** Returns a key that is equal exactly for equal states. */
  readonly keyOf: (state: State) => string
  readonly stepsFrom: (state: State) => readonly { readonly step: string; readonly to: State }[]
  readonly wrongIn: (state: State) => string | undefined
  readonly isEnd: (state: State) => boolean
}

/** Result of a walk, whose `wrong` has the steps that led to the fault. */
export type Walk = {
  readonly states: number
  readonly steps: number
  readonly ends: number
  readonly isWhole: boolean
  readonly wrong: { readonly what: string; readonly story: readonly string[] } | undefined
}

/** Visits all states, breadth first. It also checks that every state can reach an end. */
export function walkThrough<State>(model: Model<State>, statesMax: number, onLevel: () => void): Walk {
  const { keyOf, stepsFrom, wrongIn, isEnd } = model
  const known = openStates()
  const edges = { from: new Numbers(), to: new Numbers() }
  const ends: number[] = []
  let frontier: { id: number; state: State }[] = []
  const meet = (state: State, parent: number, step: string): number => {
    const { id, isNew } = known.meet(keyOf(state), parent, step)
    if (isNew) frontier.push({ id, state })
    return id
  }
  const outcome = (isWhole: boolean, wrong?: Walk['wrong']): Walk => ({
    states: known.count(),
    steps: edges.to.length,
    ends: ends.length,
    isWhole,
    wrong,
  })
  meet(model.start, 0, '')
  while (frontier.length > 0) {
    onLevel()
    const now = frontier
    frontier = []
    for (const { id, state } of now) {
      const what = wrongIn(state)
      if (what) return outcome(false, { what, story: known.storyOf(id) })
      const next = stepsFrom(state)
      if (isEnd(state)) ends.push(id)
      else if (next.length === 0)
        return outcome(false, { what: 'no further step is possible', story: known.storyOf(id) })
      for (const { step, to } of next) {
        edges.to.push(meet(to, id, step))
        edges.from.push(id)
      }
      if (known.count() > statesMax) return outcome(false)
    }
  }
  const lost = firstWithout(ends, edges, known.count())
  if (lost === undefined) return outcome(true)
  return outcome(true, {
    what: 'no end can be reached from this state',
    story: known.storyOf(lost),
  })
}

/**
 * Opens the visited states, each with the step that first reached it. A state is stored as a 53-bit hash and a 32-bit
 * check: a collision of the first that differs in the second ends the walk.
 */
function openStates() {
  const ids = new Map<number, number>()
  const [checks, from, via] = [new Numbers(), new Numbers(), new Numbers()]
  const [names, numberOf] = [[] as string[], new Map<string, number>()]
  const numberFor = (name: string): number => {
    const known = numberOf.get(name) ?? names.push(name) - 1
    numberOf.set(name, known)
    return known
  }
  return {
    count: () => ids.size,
    meet: (text: string, parent: number, step: string): { id: number; isNew: boolean } => {
      const key = Number(Bun.hash.wyhash(text, 1n) & 0x1f_ffff_ffff_ffffn)
      const check = Bun.hash.xxHash32(text)
      const known = ids.get(key)
      if (known !== undefined && checks.at(known) !== check) throw new Error('hash collision of two states')
      if (known !== undefined) return { id: known, isNew: false }
      const id = ids.size
      ids.set(key, id)
      checks.push(check)
      from.push(parent)
      via.push(numberFor(step))
      return { id, isNew: true }
    },
    storyOf: (id: number): string[] => {
      const story: string[] = []
      for (let at = id; at > 0; at = from.at(at)) story.unshift(names[via.at(at)]!)
      return story
    },
  }
}

/** A growable list of many millions of 32-bit numbers. */
class Numbers {
  #all = new Uint32Array(1_024)
  length = 0
  push(value: number): void {
    if (this.length === this.#all.length) {
      const more = new Uint32Array(2 * this.length)
      more.set(this.#all)
      this.#all = more
    }
    this.#all[this.length++] = value
  }
  at(place: number): number {
    return this.#all[place]!
  }
}

type Edges = { readonly from: Numbers; readonly to: Numbers }

function firstWithout(ends: readonly number[], edges: Edges, count: number): number | undefined {
  const { from, to } = edges
  // The steps are grouped by target state, and `first` has each group's start.
  const first = new Uint32Array(count + 1)
  for (let at = 0; at < to.length; at++) first[to.at(at) + 1]! += 1
  for (let id = 0; id < count; id++) first[id + 1]! += first[id]!
  const before = new Uint32Array(to.length)
  const place = first.slice()
  for (let at = 0; at < to.length; at++) before[place[to.at(at)]!++] = from.at(at)
  const reaches = new Uint8Array(count)
  const open = [...ends]
  for (const id of ends) reaches[id] = 1
  while (open.length > 0) {
    const id = open.pop()!
    for (let at = first[id]!; at < first[id + 1]!; at++) {
      const earlier = before[at]!
      if (reaches[earlier]) continue
      reaches[earlier] = 1
      open.push(earlier)
    }
  }
  const lost = reaches.indexOf(0)
  return lost === -1 ? undefined : lost
}
