import { books } from '#infra/ops/books'
import { correctPosting } from '#infra/ops/correct'
import { deadLetters } from '#infra/ops/dead-letters/verb'
import { deeds } from '#infra/ops/deeds'
import { growth } from '#infra/ops/growth'
import { inFlight } from '#infra/ops/in-flight'
import { pause, resume } from '#infra/ops/pause'
import { person } from '#infra/ops/person/verb'
import { reconcile } from '#infra/ops/reconcile'
import { review } from '#infra/ops/review'
import { operatorSecrets } from '#infra/ops/stack'
import { status } from '#infra/ops/status/status'
import { trace } from '#infra/ops/trace/verb'
import { unexplained } from '#infra/ops/unexplained'
import { asksForHelp, type Verb } from '#infra/ops/verb'
import { wallets } from '#infra/ops/wallets'
import { runCommand, type Say } from '#shared/command'

/** Every command by its name. */
export const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['status', status],
  ['trace', trace],
  ['in-flight', inFlight],
  ['books', books],
  ['reconcile', reconcile],
  ['review', review],
  ['dead-letters', deadLetters],
  ['wallets', wallets],
  ['person', person],
  ['unexplained', unexplained],
  ['pause', pause],
  ['resume', resume],
  ['correct', correctPosting],
  ['deeds', deeds],
  ['growth', growth],
])

const usage = (): string =>
  [
    'usage: bun run ops <command>',
    ...[...verbs].map(([name, { does }]) => `  ${name.padEnd(13)} ${does}`),
  ].join('\n')

/** Runs the command that its words name; returns the exit code. */
export async function runVerb([name = '', ...words]: readonly string[], say: Say): Promise<number> {
  const verb = verbs.get(name)
  if (verb) return verb.run(words, say)
  const isHelp = name === 'help' || asksForHelp([name])
  const isWrong = name !== '' && !isHelp
  say([usage(), ...(isWrong ? [`error: unknown command: ${name}`] : [])].join('\n'))
  return isHelp ? 0 : 2
}

if (import.meta.main) {
  await runCommand(operatorSecrets, (say) => runVerb(process.argv.slice(2), say))
  process.exit()
}
