import { type Block, table } from '#infra/documents/blocks'
import { writePages } from '#infra/documents/write'
import { engines } from './engines'

/** The table of engines in test/README.md. */
export const enginesBlock: Block = {
  page: 'test/README.md',
  name: 'engines',
  lines: () =>
    table(
      ['Engine', 'It alone proves', 'Minutes'],
      engines.map(({ name, proves, minutes }) => [`\`${name}\``, proves, String(minutes)]),
    ),
}

if (import.meta.main) writePages([enginesBlock])
