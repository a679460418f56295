import { failpoint } from '#shared/failpoint'

/** Failpoints of steps whose commit is somebody else's: named in it, passed after it. */
export function openBoundaries() {
  const named = new Set<string>()
  return {
    reached: (boundary: string) => void named.add(boundary),
    /** Called after each commit. */
    pass: () => {
      for (const boundary of named) failpoint(boundary)
      named.clear()
    },
  }
}
