/** How many blocks to ask one endpoint for at once. */
export type Range = {
  readonly blocks: number
  /** What the endpoint taught us; forgotten at `capUntilMs`, since the lesson may have been a hiccup. */
  readonly cap: number
  readonly capUntilMs: number
  readonly max: number
}

const capHoldsMs = 60_000
/** More logs than this in one answer cost memory without bringing speed. */
const logsWanted = 1_000

/** Starts with a quarter: how heavy the first answers are, nobody knows. */
export const startRange = (max: number): Range => ({
  blocks: Math.max(1, Math.floor(max / 4)),
  cap: max,
  capUntilMs: 0,
  max,
})

/** Grows by a tenth up to the learned cap, and shrinks when an answer was heavy. */
export function afterSuccess(range: Range, logs: number, nowMs: number): Range {
  if (logs > logsWanted) return { ...range, blocks: Math.max(1, Math.floor(range.blocks / 2)) }
  if (logs > logsWanted / 2) return range
  const cap = nowMs < range.capUntilMs ? range.cap : range.max
  const blocks = Math.min(cap, range.blocks + Math.ceil(range.blocks / 10))
  return { ...range, cap, blocks: Math.max(1, blocks) }
}

/** Halves. A cap that the endpoint names is taken at its word; a time-out teaches no cap. */
export function afterRefusal(
  range: Range,
  tried: number,
  fault: { kind: string; message: string },
  nowMs: number,
): Range {
  const blocks = Math.max(1, Math.floor(Math.min(tried, range.blocks) / 2))
  if (fault.kind !== 'range') return { ...range, blocks }
  const named = Number(/limited to a? ?(\d+)/i.exec(fault.message)?.[1] ?? Number.NaN)
  const cap = named >= 1 && named < tried ? named : Math.max(1, tried - 1)
  return {
    ...range,
    blocks: named >= 1 && named < tried ? named : blocks,
    cap: Math.min(cap, range.max),
    capUntilMs: nowMs + capHoldsMs,
  }
}
