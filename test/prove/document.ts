import type { Block } from '#infra/documents/blocks'
import { pagesOf, writePages } from '#infra/documents/write'
import { engines } from './engines'

export const enginesBlock: Block = {
  page: 'test/README.md',
  name: 'engines',
  lines: () => engines.map(({ name, proves, minutes }) => `- \`${name}\` (${minutes} min): ${proves}`),
}

if (import.meta.main) writePages(pagesOf([enginesBlock]))
