import { serviceNames } from '#shared/messages/topic'
import { boundariesOf } from '../../../failures/failpoints'
import { meaningOf, ofNoMoney } from './boundaries'
import type { Tried } from './crashes'
import type { Path } from './paths'

export function lineOf({ path, kills, metIn, seconds, fault }: Tried): string {
  const met = metIn.map((count) => count ?? '-').join(' ')
  const ended = fault === null ? 'once' : `FAULT ${fault}`
  return `${seconds.toFixed(1).padStart(6)} s  ${met.padEnd(4)} ${path.name.padEnd(34)} ${kills.join(', then ')}  ${ended}`
}

export function summaryOf(tried: readonly Tried[], wholeSeconds: number): string {
  const rows = [...Map.groupBy(tried, ({ path }) => path.name)].map(([name, own]) => {
    const boundaries = new Set(own.flatMap(({ kills }) => kills))
    const once = own.filter(({ fault }) => fault === null)
    const again = own.filter(({ metIn }) => metIn.length > 1 && metIn.every((count) => count === 1))
    return [
      name.padEnd(34),
      String(boundaries.size).padStart(10),
      String(own.length).padStart(8),
      String(once.length).padStart(8),
      String(again.length).padStart(10),
      meanOf(own).padStart(8),
    ].join('')
  })
  const head = `${'path'.padEnd(34)}boundaries  trials    once  same item    mean`
  const { length } = tried.filter(({ fault }) => fault === null)
  const end = `${tried.length} trials, ${length} ended exactly once, in ${wholeSeconds.toFixed(0)} s`
  return [head, ...rows, '', end].join('\n')
}

const meanOf = (tried: readonly Tried[]): string =>
  `${(tried.reduce((sum, { seconds }) => sum + seconds, 0) / tried.length).toFixed(1)} s`

export function unpassed(paths: readonly Path[]): string[] {
  const passed = new Set(paths.flatMap(({ boundaries }) => boundaries))
  const named = serviceNames.flatMap((service) => boundariesOf(service))
  return named.filter((name) => !passed.has(name) && !ofNoMoney.has(name))
}

export function listOf(paths: readonly Path[]): string {
  const all = [...new Set(paths.flatMap(({ boundaries }) => boundaries))].sort()
  return all
    .map((boundary) => {
      const count = paths.filter(({ boundaries }) => boundaries.includes(boundary)).length
      return `${boundary.padEnd(48)}${String(count).padStart(3)}  ${meaningOf(boundary)}`
    })
    .join('\n')
}
