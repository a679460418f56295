import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Grant, rightsOf } from '#infra/nats/rights'
import { passwordVariable } from '#infra/nats/server-environment'
import { type BusUser, busUsers } from '#shared/messages/topic'

/** Where nats-server.conf includes the users from. */
export const usersPath = join(import.meta.dir, 'users.gen.conf')

/** The whole of users.gen.conf as it should be now. */
export const usersFile = (): string => `\
# The users of the account APP. Who may say and hear what: rights.ts, from the catalogue of messages.
# Written by \`bun run permissions\`.

users: [
  # Provisioning and the NATS CLI. No service knows this password.
  { user: admin, password: $${passwordVariable('admin')} }
${busUsers.map(userOf).join('')}]
`

/** A question is answered once, and no later than its asker waits (`shared/bus/ask.ts`). */
const replies = '{ max: 1, expires: "12s" }'

/**
 * The console hears messages whose publishers wait for the word of JetStream that they are stored: it
 * must not be able to give it.
 */
const repliesOf = (user: BusUser) =>
  user === 'console' ? '' : `      allow_responses: ${replies}\n`

/** An empty list would be no limit to nats-server. */
const nothing = '{ deny: ">" }'

const userOf = (user: BusUser): string => {
  const { publish, subscribe } = rightsOf(user)
  return `
  {
    user: ${user}, password: $${passwordVariable(user)}
    permissions: {
      publish: ${publish.length === 0 ? nothing : `[\n${publish.map(linesOf).join('')}      ]`}
      subscribe: [
${subscribe.map(linesOf).join('')}      ]
${repliesOf(user)}    }
  }
`
}

const linesOf = ({ why, subjects }: Grant): string =>
  [`# ${why}`, ...subjects.map((subject) => `"${subject}"`)]
    .map((line) => `        ${line}\n`)
    .join('')

if (import.meta.main) {
  writeFileSync(usersPath, usersFile())
  console.log('wrote infra/nats/users.gen.conf')
}
