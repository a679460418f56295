import { processes } from '#infra/configuration/processes'
import { natsUsers, passwordVariable } from '#infra/nats/server-environment'
import { runCommand } from '#platform/command'
import { type Environment, type Fields, Misconfigured, mayBePublic, readConfig } from '#platform/config'
import { text } from '#platform/config-fields'

/** Processes that an operator runs, with a key from the shell. */
const byHand: ReadonlySet<string> = new Set(['deploy'])

const password = (about: string) => text({ about, secret: true })
export const backboneSettings: Fields = {
  POSTGRES_PASSWORD: password('password of the owner of all tables'),
  NATS_STORE_KEY: password('key that encrypts the streams of NATS on disk'),
  ...Object.fromEntries(
    natsUsers.map((user) => [passwordVariable(user), password(`password of the NATS user ${user}`)]),
  ),
}

/** Variables that compose.yaml derives from others. */
const composed = {
  UNENCRYPTED_HOSTS: 'nats,postgres',
  NATS_URL: 'nats://nats:4222',
  NATS_PASSWORD: 'named with its user',
  DATABASE_URL: 'postgres://postgres:5432/postgres',
  DATABASE_PASSWORD: 'named with its role',
  DATABASE_ADMIN_URL: 'postgres://postgres:5432/postgres',
  DATABASE_ADMIN_PASSWORD: '',
}

/** Returns missing, malformed and public variables. The deployment may start if there are none. */
export function faultsOf(env: Environment): string[] {
  const started = Object.entries({ backbone: backboneSettings, ...processes }).filter(([name]) => !byHand.has(name))
  const faults = started.flatMap(([name, fields]) => {
    try {
      readConfig(name, fields, { ...env, ...composed })
      return []
    } catch (error) {
      if (!(error instanceof Misconfigured)) throw error
      return error.message.split('\n').slice(1)
    }
  })
  if (env.STACK === 'local' && !mayBePublic(env))
    faults.unshift('STACK is local: .env is public, use --env-file with your own file')
  // Several processes may report the same variable, so only its first line is kept.
  return [...Map.groupBy(faults, (fault) => fault.trim().split(' ')[0])].map(([, [first]]) => first!.trim())
}

if (import.meta.main) {
  await runCommand(
    () => [],
    async (say) => {
      const faults = faultsOf(process.env)
      say(
        faults.length === 0
          ? 'settings complete'
          : `nothing was started. Fix these variables:\n  ${faults.join('\n  ')}`,
      )
      return faults.length === 0 ? 0 : 1
    },
  )
  process.exit()
}
