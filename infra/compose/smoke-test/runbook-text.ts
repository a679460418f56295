import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { infraDir } from '#infra/compose/composition'

const fence = /^( *)```sh\n([\s\S]*?)^ *```$/gm

type Page = 'deploy' | 'restore' | 'secrets'

/** Returns the text below a heading of the runbook. */
export function pageSection(page: Page, heading: string): string {
  const text = readFileSync(join(infraDir, `operations/runbook/${page}.md`), 'utf8')
  const start = text.search(new RegExp(`^#+ ${RegExp.escape(heading)}$`, 'm'))
  if (start < 0) throw new Error(`infra/operations/runbook/${page}.md has no heading "${heading}"`)
  const body = text.slice(text.indexOf('\n', start))
  const next = body.search(/^#{2,3} /m)
  return next < 0 ? body : body.slice(0, next)
}

export const textBlocks = (page: Page, heading: string): string[] =>
  [...pageSection(page, heading).matchAll(fence)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )

/** Returns the names of the secrets of a deployment, as those of their files. */
export function secretNames(): string[] {
  const text = readFileSync(join(infraDir, 'compose/secrets.yaml'), 'utf8')
  const { secrets } = Bun.YAML.parse(text) as { secrets: Record<string, object> }
  return Object.keys(secrets)
}

/** Blocks that the rehearsal runs, each by its heading and by words that no other block below the heading has. */
const blocks = {
  functions: ['deploy', 'Deploy to the test chain', 'dc() {'],
  keys: ['deploy', '5. Keys', '# TREASURY_KEY'],
  secretFiles: ['deploy', '5. Keys', 'compose/secrets.yaml'],
  contracts: ['deploy', '7. Contracts', 'infra/deploy/main.ts --dry-run'],
  start: ['deploy', '8. Start', 'dc up -d --build'],
  seen: ['deploy', '8. Start', 'curl -s $PUBLIC_URL/ready'],
  probe: ['deploy', '8. Start', 'webhook-id: probe-1'],
  firstUser: ['deploy', '9. First user, first top-up', 'export SESSION='],
  changedFile: ['secrets', 'Rotate', 'dc up -d --force-recreate'],
  backup: ['restore', 'Backup', 'pg_basebackup'],
  operator: ['restore', 'Restore', 'oper() {'],
  restoreFiles: ['restore', 'Restore', 'tar -x -C docker'],
} as const
export type RunbookBlock = keyof typeof blocks
export const runbookBlocks = Object.keys(blocks) as RunbookBlock[]

export function blockOf(name: RunbookBlock): string {
  const [page, heading, words] = blocks[name]
  const [found, another] = textBlocks(page, heading).filter((block) => block.includes(words))
  if (found === undefined || another !== undefined)
    throw new Error(`${found === undefined ? 'no block' : 'more than one block'} below "${heading}" has ${words}`)
  return found
}
