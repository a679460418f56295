import { processes } from '#infra/configuration/processes'
import { natsUsers, passwordVariable } from '#infra/nats/server-environment'
import { runCommand } from '#shared/command'
import { type Environment, type Fields, Misconfigured, readConfig } from '#shared/config'
import { text } from '#shared/config-fields'

/** Not started with the others: a person runs it by hand, with a key from the shell. */
const byHand: ReadonlySet<string> = new Set(['deploy'])

const password = (about: string) => text({ about, secret: true })
/** What nats-server and Postgres are given, which read no configuration of ours. */
export const backbone: Fields = {
  POSTGRES_PASSWORD: password('password of the owner of all tables'),
  ...Object.fromEntries(
    natsUsers.map((user) => [
      passwordVariable(user),
      password(`password of the NATS user ${user}`),
    ]),
  ),
}

/** What compose.yaml makes for a process of variables that are named by others. */
const composed = {
  NATS_URL: 'nats://nats:4222',
  NATS_PASSWORD: 'named with its user',
  DATABASE_URL: 'postgres://postgres:5432/postgres',
  DATABASE_PASSWORD: 'named with its role',
  DATABASE_ADMIN_URL: 'postgres://postgres:5432/postgres',
  DATABASE_ADMIN_PASSWORD: '',
}

/**
 * Everything that is wrong with a deployment's variables, of all its processes, a sentence each:
 * missing, malformed, or a secret that stands in the repository. Empty: it may start.
 */
export function faultsOf(env: Environment): string[] {
  const started = Object.entries({ backbone, ...processes }).filter(([name]) => !byHand.has(name))
  const faults = started.flatMap(([name, fields]) => {
    try {
      readConfig(name, fields, { ...env, ...composed })
      return []
    } catch (error) {
      if (!(error instanceof Misconfigured)) throw error
      return error.message.split('\n').slice(1)
    }
  })
  if (env.STACK === 'local' && env.PUBLIC_SECRETS !== 'allowed')
    faults.unshift('STACK is local: .env is public, name an --env-file of your own')
  // Several processes lack the same variable, each in its own words: one is enough.
  return [...Map.groupBy(faults, (fault) => fault.trim().split(' ')[0])].map(([, [first]]) =>
    first!.trim(),
  )
}

if (import.meta.main) {
  await runCommand(
    () => [],
    async (say) => {
      const faults = faultsOf(process.env)
      say(faults.length === 0 ? 'complete' : `nothing is started:\n  ${faults.join('\n  ')}`)
      return faults.length === 0 ? 0 : 1
    },
  )
  process.exit()
}
