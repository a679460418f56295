import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { infraDir } from '#infra/compose/composition'

const fence = /^( *)```sh\n([\s\S]*?)^ *```$/gm

export function textBlocks(page: 'deploy' | 'restore', heading: string): string[] {
  const text = readFileSync(join(infraDir, `operations/runbook/${page}.md`), 'utf8')
  const start = text.search(new RegExp(`^#+ ${RegExp.escape(heading)}$`, 'm'))
  if (start < 0) throw new Error(`infra/operations/runbook/${page}.md has no heading "${heading}"`)
  const body = text.slice(text.indexOf('\n', start))
  const next = body.search(/^#{2,3} /m)
  const section = next < 0 ? body : body.slice(0, next)
  return [...section.matchAll(fence)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}
