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

/** Every heading that has blocks of shell. */
export const headingsWithBlocks = (): string[] =>
  [...readme.matchAll(/^#+ (.+)$/gm)]
    .map(([, heading]) => heading!)
    .filter((heading) => blocksOf(heading).length > 0)

const words = 'dc|bus|look|ops|oper|docker|bun|curl|openssl|cast|install|tar'
/** The commands that stand in the text itself, between backticks, each once. */
export const commandsInText = (): string[] => [
  ...new Set(
    [...readme.replaceAll(fence, '').matchAll(/`([^`\n]+)`/g)]
      .map(([, code]) => code!)
      .filter((code) => new RegExp(`^(?:${words}) `).test(code)),
  ),
]

/** What stands in the runbook and is not run by `bun run rehearse`, and why. */
export const notRehearsed: Readonly<Record<string, string>> = {
  'bun run start': 'without containers: the suites stand on it',
  'bun run rehearse': 'this',
  'bun test test/compose': 'a suite',
  'curl -sI https://…': 'a public name and its certificate',
  'curl -s -o /dev/null -w \'%{http_code}\\n\' -u "$KEY:" https://api.xendit.co/balance':
    'the provider: `bun run conformance`',
  'bun install': 'the repository itself',
  'bun infra/compose/stack-file.ts': 'a file: the rehearsal writes it itself, before the demo',
  'bun run ops books': 'without containers: infra/ops/ops.test.ts, test/invariants',
  'bun run ops reconcile': 'without containers: test/invariants',
  'bun run ops reconcile explain <break> --owner <who> --reason <why> --until <day>':
    'a break to explain: test/invariants/breaks.proof.test.ts',
  'bun run ops unexplained accept <item> --reason …':
    'money to accept: test/attacks/promises.ci.test.ts',
  'bun run ops growth --per-day <payments>': 'without containers: test/bounds/plans.proof.test.ts',
  'bun run ops status': 'without containers: test/attacks/promises.ci.test.ts',
  'ops infra/ops/main.ts correct <posting> --reason "…"':
    'a posting that is wrong: infra/ops/correct.test.ts',
  'bun run ops dead-letters redrive <group> --reason …':
    'a dead letter: infra/ops/dead-letters/dead-letters.ci.test.ts',
  'oper infra/ops/main.ts pause topups':
    'it would stop what the rest of the rehearsal does: test/journeys/operator.ci.test.ts',
  'bun infra/ops/restore/main.ts …': 'without containers: test/failures/restore.proof.test.ts',
}

/** Which part of the rehearsal runs the blocks under a heading. */
export const rehearsedBlocks: Readonly<Record<string, 'local' | 'runbook'>> = {
  'On this machine': 'local',
  'From nothing to the test chain': 'runbook',
  '5. Keys': 'runbook',
  '7. Contracts': 'runbook',
  '8. Start': 'runbook',
  '9. First person, first top-up': 'runbook',
  Restore: 'runbook',
}
