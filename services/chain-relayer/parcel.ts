import { canTravelTogether, type Kind } from './operation'

/**
 * Divides operations into those that travel together and those that travel alone. What failed once
 * travels alone, after a closer look; so does one that found no company.
 */
export function packed<O extends { readonly kind: Kind; readonly tries: number }>(
  operations: readonly O[],
  batchMax: number,
): { together: O[][]; alone: O[] } {
  const sociable = (one: O) => batchMax > 1 && canTravelTogether(one.kind) && one.tries === 0
  const alone = operations.filter((one) => !sociable(one))
  const company = operations.filter(sociable)
  const together: O[][] = []
  for (let from = 0; from < company.length; from += batchMax) {
    const group = company.slice(from, from + batchMax)
    if (group.length > 1) together.push(group)
    else alone.push(...group)
  }
  return { together, alone }
}
