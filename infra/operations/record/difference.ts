import { pause } from '#platform/deadline'

/** How often a check is repeated, because a difference may only be in progress. */
export type Repeats = { checksMax: number; betweenMs: number }
export const repeats: Repeats = { checksMax: 6, betweenMs: 1_000 }

/** Repeats a check, and returns the differences that every check found. */
export async function lasting(
  check: () => Promise<string[]>,
  { checksMax, betweenMs }: Repeats = repeats,
): Promise<string[]> {
  let found = await check()
  for (let checks = 1; found.length > 0 && checks < checksMax; checks++) {
    await pause(betweenMs)
    const again = new Set(await check())
    found = found.filter((line) => again.has(line))
  }
  return found
}

/** Returns one line per leaf in which two JSON values differ. */
export function differencesIn(left: unknown, right: unknown, leftName: string, rightName: string, path = ''): string[] {
  if (isTree(left) && isTree(right)) {
    const keys = new Set([...Object.keys(left), ...Object.keys(right)])
    return [...keys].flatMap((key) =>
      differencesIn(left[key], right[key], leftName, rightName, path ? `${path}.${key}` : key),
    )
  }
  if (Object.is(left, right)) return []
  return [`${path}: ${leftName} has ${textOf(left)}, ${rightName} ${textOf(right)}`]
}

const isTree = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const textOf = (value: unknown) => (value === undefined ? 'nothing' : JSON.stringify(value))
