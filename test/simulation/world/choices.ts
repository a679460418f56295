/** Number of values of a choice, of which every event has a share. */
export const choiceMax = 65_536

/** All randomness, 16 bits at a time; 0 is always the plainest event. */
export type Choices = { readonly draw: () => number }

/** Returns choices by the generator sfc32. */
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

export function replayed(drawn: readonly number[]): Choices {
  let at = 0
  return { draw: () => drawn[at++] ?? 0 }
}

/** Chooses a number below `count`. */
export const oneOf = (choices: Choices, count: number): number => Math.floor((choices.draw() * count) / choiceMax)

export const pick = <T>(choices: Choices, among: readonly T[]): T => among[oneOf(choices, among.length)]!

export const chance = (choices: Choices, perMille: number): boolean =>
  choices.draw() >= choiceMax - (choiceMax * perMille) / 1_000

/** Returns a time in ms from 1 to `mostMs`. The plainest choice is the longest, because a loop without rests never ends. */
export const waitWithin = (choices: Choices, mostMs: number): number => mostMs - oneOf(choices, mostMs)
