/** How many values a choice has: what can happen is a share of them. */
export const choiceMax = 65_536

/**
 * Where everything comes from that is left to chance: a number of 16 bits at a time. The same seed
 * gives the same numbers for ever; 0 always stands for the plainest thing that can happen.
 */
export type Choices = { readonly draw: () => number }

/** Numbers from a seed (sfc32). */
export function seeded(seed: number): Choices {
  let [a, b, c, count] = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88, 1]
  const next = () => {
    const sum = (((a + b) | 0) + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 16
  }
  for (let warm = 0; warm < 12; warm++) next()
  return { draw: next }
}

/** The same numbers, and those that were drawn. */
export function recorded(choices: Choices): Choices & { readonly drawn: number[] } {
  const drawn: number[] = []
  return {
    drawn,
    draw: () => {
      const value = choices.draw()
      drawn.push(value)
      return value
    },
  }
}

/** Numbers that were recorded; the plainest once they have ended. */
export function replayed(drawn: readonly number[]): Choices {
  let at = 0
  return { draw: () => drawn[at++] ?? 0 }
}

/** One of so many, the first being the plainest. */
export const oneOf = (choices: Choices, count: number): number =>
  Math.floor((choices.draw() * count) / choiceMax)

/** One of these, the first being the plainest. */
export const pick = <T>(choices: Choices, among: readonly T[]): T =>
  among[oneOf(choices, among.length)]!

/** True in so many of a thousand cases. */
export const chance = (choices: Choices, perMille: number): boolean =>
  choices.draw() >= choiceMax - (choiceMax * perMille) / 1_000
