import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { infraDir } from '#infra/compose/composition'

const readme = readFileSync(join(infraDir, 'README.md'), 'utf8')
const fence = /^( *)```sh\n([\s\S]*?)^ *```$/gm

/** A heading, or the number of a step below it, and the blocks of shell that stand there. */
export function blocksOf(heading: string): string[] {
  const start = readme.search(new RegExp(`^#+ ${RegExp.escape(heading)}$`, 'm'))
  if (start < 0) throw new Error(`the runbook has no heading ${heading}`)
  const body = readme.slice(readme.indexOf('\n', start))
  const next = body.search(/^#+ /m)
  const text = next < 0 ? body : body.slice(0, next)
  return [...text.matchAll(fence)].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}
