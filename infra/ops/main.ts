import { books } from '#infra/ops/books'
import { correctPosting } from '#infra/ops/correct'
import { growth } from '#infra/ops/growth'
import { reconcile } from '#infra/ops/reconcile'
import { operatorSecrets } from '#infra/ops/stack'
import { status } from '#infra/ops/status/status'
import { unexplained } from '#infra/ops/unexplained'
import type { Verb } from '#infra/ops/verb'
import { runCommand } from '#shared/command'

const verbs = new Map<string, Verb>([
  ['status', status],
  ['books', books],
  ['reconcile', reconcile],
  ['unexplained', unexplained],
  ['correct', correctPosting],
  ['growth', growth],
])

const usage = (): string =>
  [
    'usage: bun run ops <verb>',
    ...[...verbs].map(([name, { does }]) => `  ${name.padEnd(12)} ${does}`),
  ].join('\n')

if (import.meta.main) {
  const [name = '', ...words] = process.argv.slice(2)
  await runCommand(operatorSecrets, async (say) => {
    const verb = verbs.get(name)
    if (verb) return verb.run(words, say)
    say(usage())
    return 2
  })
  process.exit()
}
