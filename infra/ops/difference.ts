import { pause } from '#shared/deadline'

/** For how long a difference may be the trace of something that is just happening. */
export type Patience = { looksMax: number; betweenMs: number }
export const patience: Patience = { looksMax: 6, betweenMs: 1_000 }

/** Looks again while differences are found, and answers those that every look found. */
export async function lasting(
  look: () => Promise<string[]>,
  { looksMax, betweenMs }: Patience = patience,
): Promise<string[]> {
  let found = await look()
  for (let looks = 1; found.length > 0 && looks < looksMax; looks++) {
    await pause(betweenMs)
    const again = new Set(await look())
    found = found.filter((line) => again.has(line))
  }
  return found
}

/** Every leaf in which two JSON values differ, as a line for a person. */
export function differencesIn(
  left: unknown,
  right: unknown,
  leftName: string,
  rightName: string,
  path = '',
): string[] {
  if (isTree(left) && isTree(right)) {
    const keys = new Set([...Object.keys(left), ...Object.keys(right)])
    return [...keys].flatMap((key) =>
      differencesIn(left[key], right[key], leftName, rightName, path ? `${path}.${key}` : key),
    )
  }
  if (Object.is(left, right)) return []
  return [`${path}: ${leftName} says ${textOf(left)}, ${rightName} ${textOf(right)}`]
}

const isTree = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const textOf = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value))
