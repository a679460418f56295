import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure } from './figure'
import { type Machine, machineText } from './machine'
import { tableOf } from './table'

export type Result = {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly note: string | undefined
  readonly figures: readonly Figure[]
}

const readme = join(import.meta.dir, 'README.md')
const begin = '<!-- results -->'
const end = '<!-- /results -->'

/** Writes the figures that have an aim into the README. */
export const writeResults = (result: Result): void =>
  writeFileSync(readme, withResults(readFileSync(readme, 'utf8'), result))

/** Returns the page with new results. Throws if the page has no markers. */
export function withResults(page: string, result: Result): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the page has no ${begin} … ${end}`)
  const facts = [
    `- date: ${result.date}`,
    `- command: \`${result.command}\``,
    `- machine: ${machineText(result.machine)}`,
    ...(result.note ? [`- note: ${result.note}`] : []),
  ]
  const table = ['```', tableOf(result.figures.filter(({ aim }) => aim)), '```'].join('\n')
  const block = `${begin}\n\n${facts.join('\n')}\n\n${table}\n\n`
  return `${page.slice(0, from)}${block}${page.slice(to)}`
}
