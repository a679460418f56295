import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { rulesText, ruleTestsText } from '#infra/operations/alerts/rules'
import { type Block, blocks } from './blocks'

const end = '<!-- end of generated -->'

export function withBlock(text: string, { page, name, lines }: Block): string {
  const start = `<!-- generated: ${name} -->`
  const from = text.indexOf(start)
  const to = text.indexOf(end, from)
  if (from < 0 || to < 0) throw new Error(`${page}: add the lines ${start} and ${end}`)
  return `${text.slice(0, from)}${start}\n\n${lines().join('\n')}\n\n${text.slice(to)}`
}

export type WrittenPage = { readonly path: string; readonly found: string; readonly wanted: string }

export const pagesOf = (some: readonly Block[]): WrittenPage[] =>
  [...Map.groupBy(some, ({ page }) => page)].map(([path, own]) => {
    const found = readFileSync(join(repositoryDir, path), 'utf8')
    return { path, found, wanted: own.reduce(withBlock, found) }
  })

/** Returns the files that are generated as a whole. */
export const filesOf = (): WrittenPage[] =>
  [
    { path: 'infra/operations/alerts/rules.yaml', wanted: rulesText() },
    { path: 'infra/operations/alerts/rules.test.yaml', wanted: ruleTestsText() },
  ].map((one) => ({ ...one, found: readFileSync(join(repositoryDir, one.path), 'utf8') }))

export function writePages(pages: readonly WrittenPage[]): void {
  for (const { path, found, wanted } of pages) {
    if (found !== wanted) writeFileSync(join(repositoryDir, path), wanted)
    console.log(`${found === wanted ? 'unchanged' : 'wrote'} ${path}`)
  }
}

if (import.meta.main) writePages([...pagesOf(blocks), ...filesOf()])
