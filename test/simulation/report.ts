import { printOutcome } from '../prove/outcome'
import type { World } from './worker'

/** Number of flows from which every event is expected; fewer may miss a rare one by chance. */
const sightsFrom = 15_000
const progressEveryMs = 30_000

export const count = (many: number): string => Math.round(many).toLocaleString('en')

export function openReport(run: { worlds: number; flows: number; seed: number; isOnce: boolean }) {
  const seen = new Map<string, number>()
  const began = performance.now()
  let [worlds, steps, cpuMs, digest, toldAt] = [0, 0, 0, 0, began]
  const seconds = () => count((performance.now() - began) / 1_000)
  return {
    add: (world: World): void => {
      worlds += 1
      steps += world.steps
      cpuMs += world.cpuMs
      // The digest does not depend on the order in which worlds end.
      digest = (digest + Math.imul(world.digest, 2 * world.world + 1)) >>> 0
      for (const [sight, times] of world.sights) seen.set(sight, (seen.get(sight) ?? 0) + times)
      if (performance.now() - toldAt < progressEveryMs) return
      toldAt = performance.now()
      console.log(`${count(worlds * run.flows)} of ${count(run.worlds * run.flows)} flows, ${seconds()} s`)
    },
    /** Ends the report. Returns false if an expected event never occurred in enough flows. */
    end: async (): Promise<boolean> => {
      const { missingAmong } = await import('./coverage')
      const flows = worlds * run.flows
      const name = digest.toString(16).padStart(8, '0')
      console.log(
        `${count(flows)} flows of seed ${run.seed} in ${count(worlds)} worlds, ${count(steps)} steps: ${name}`,
      )
      console.log(run.isOnce ? 'each once' : 'each twice, with the same result')
      console.log(`${count((flows * 1_000) / cpuMs)} flows a second of processor time; ${seconds()} s in all`)
      const sights = [...seen].sort(([left], [right]) => (left < right ? -1 : 1))
      for (const [sight, times] of sights) console.log(`  ${count(times).padStart(11)}  ${sight}`)
      const missing = missingAmong(seen)
      const isEnough = flows >= sightsFrom
      if (missing.length > 0)
        console.log(`\nnever happened${isEnough ? '' : ' (too few flows)'}:\n  ${missing.join('\n  ')}`)
      if (missing.length > 0 && isEnough) return false
      console.log('\nnothing lost, nothing doubled, everything accounted for')
      printOutcome({ amount: `${count(flows)} flows of seed ${run.seed}`, found: 0 })
      return true
    },
  }
}
