import { access } from '#infra/operations/cli/access'
import { accounts } from '#infra/operations/cli/accounts'
import { approveAmong, withdraw } from '#infra/operations/cli/approve'
import { books } from '#infra/operations/cli/books'
import { cashouts } from '#infra/operations/cli/cashouts'
import { asksForHelp, type Verb } from '#infra/operations/cli/command'
import { operatorSecrets } from '#infra/operations/cli/connection'
import { correctPosting } from '#infra/operations/cli/correct'
import { deadLetters } from '#infra/operations/cli/dead-letters/command'
import { doctor } from '#infra/operations/cli/doctor'
import { events } from '#infra/operations/cli/events'
import { find } from '#infra/operations/cli/find'
import { growth } from '#infra/operations/cli/growth'
import { inFlight } from '#infra/operations/cli/in-flight'
import { operatorCommands } from '#infra/operations/cli/operator-commands'
import { pause, resume } from '#infra/operations/cli/pause'
import { persons } from '#infra/operations/cli/person/command'
import { rates } from '#infra/operations/cli/rates'
import { reconcile } from '#infra/operations/cli/reconcile'
import { report } from '#infra/operations/cli/report'
import { review } from '#infra/operations/cli/review'
import { status } from '#infra/operations/cli/status'
import { topups } from '#infra/operations/cli/topups'
import { trace } from '#infra/operations/cli/trace'
import { unexplained } from '#infra/operations/cli/unexplained'
import { wallets } from '#infra/operations/cli/wallets'
import { runCommand, type Say } from '#platform/command'

export const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['status', status],
  ['doctor', doctor],
  ['trace', trace],
  ['find', find],
  ['in-flight', inFlight],
  ['books', books],
  ['report', report],
  ['reconcile', reconcile],
  ['review', review],
  ['topups', topups],
  ['dead-letters', deadLetters],
  ['events', events],
  ['wallets', wallets],
  ['cashouts', cashouts],
  ['accounts', accounts],
  ['persons', persons],
  ['unexplained', unexplained],
  ['rates', rates],
  ['pause', pause],
  ['resume', resume],
  ['correct', correctPosting],
  ['commands', operatorCommands],
  ['approve', approveAmong(() => verbs)],
  ['withdraw', withdraw],
  ['access', access],
  ['growth', growth],
])

const usage = (): string =>
  ['usage: bun run ops <command>', ...[...verbs].map(([name, { does }]) => `  ${name.padEnd(13)} ${does}`)].join('\n')

/** Says what a refused write means, which PostgreSQL reports as the statement that the command happened to begin with. */
function ofReadOnly(error: unknown): never {
  if ((error as { code?: unknown }).code !== '25006') throw error
  throw new Error('Postgres is read only, and this command writes: run it again once Postgres takes writes', {
    cause: error,
  })
}

export async function runVerb([name = '', ...words]: readonly string[], say: Say): Promise<number> {
  const verb = verbs.get(name)
  if (verb) return verb.run(words, say).catch(ofReadOnly)
  const isHelp = name === 'help' || asksForHelp([name])
  const isWrong = name !== '' && !isHelp
  say([usage(), ...(isWrong ? [`error: unknown command: ${name}`] : [])].join('\n'))
  return isHelp ? 0 : 2
}

if (import.meta.main) {
  await runCommand(operatorSecrets, (say) => runVerb(process.argv.slice(2), say))
  process.exit()
}
