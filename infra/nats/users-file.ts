import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Grant, rightsOf } from '#infra/nats/rights'
import { passwordVariable } from '#infra/nats/server-environment'
import { type BusUser, busUsers, processNames } from '#shared/messages/topic'

export const usersPath = join(import.meta.dir, 'users.gen.conf')

export const usersFile = (): string => `\
# Users of the account APP and their permissions, derived from the message catalogue by rights.ts.
# Written by \`bun run generate permissions\`.

users: [
  # For provisioning and the NATS CLI. No service has this password.
  { user: admin, password: $${passwordVariable('admin')} }
${busUsers.map(userOf).join('')}]
`

/** Right to reply. It expires when the caller stops waiting (`shared/platform/bus/ask.ts`). */
const replies = '{ max: 1, expires: "12s" }'

/**
 * Returns the right to reply, which only processes have, because they serve requests. The console receives messages
 * whose publishers wait for JetStream's acknowledgement, and must not be able to send it.
 */
const repliesOf = (user: BusUser) =>
  processNames.some((name) => name === user) ? `      allow_responses: ${replies}\n` : ''

/** Empty list of rights. nats-server would treat a really empty list as no restriction. */
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
  [`# ${why}`, ...subjects.map((subject) => `"${subject}"`)].map((line) => `        ${line}\n`).join('')

if (import.meta.main) {
  writeFileSync(usersPath, usersFile())
  console.log('wrote infra/nats/users.gen.conf')
}
