import { userInfo } from 'node:os'
import { join } from 'node:path'
import { connect, type NatsConnection, nuid } from 'nats'
import type { Sql } from 'postgres'
import { repositoryDir } from '#infra/local/folders'
import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { openSql } from '#infra/ops/stack'
import { type Ask, asker, Unavailable } from '#shared/bus/ask'
import type { Bus } from '#shared/bus/open'
import { databaseUrlOf } from '#shared/db/url'

/** Where an operator's command works, and as whom: a role and a user of the bus that can do no more. */
export type OperatorAccess = {
  readonly databaseUrl: string
  readonly nats: { readonly url: string; readonly password: string }
}

/** What an operator's command works with. Nothing is connected before it is used. */
export type Operator = AsyncDisposable & {
  /** Postgres as `ops`: reads everything, and adds to its own tables. */
  readonly sql: Sql
  /** Asks a service. Throws `Unavailable`, `Overdue` or `Faulted`, as `asker` does. */
  readonly ask: Ask
  /** The connection to the bus; throws `Unavailable` when it cannot be reached. */
  readonly bus: () => Promise<Bus>
}

export const accessOf = ({ ops, nats }: StackFile): OperatorAccess => ({
  databaseUrl: ops.databaseUrl,
  nats: { url: nats.url, password: ops.natsPassword },
})

/** The running local stack; or, with DATABASE_OPS_URL set, what the environment names. */
export function operatorAccess(env: NodeJS.ProcessEnv = process.env): OperatorAccess {
  const { DATABASE_OPS_URL: databaseUrl, DATABASE_PASSWORD_OPS: databasePassword = '' } = env
  if (!databaseUrl) return accessOf(readStackFile(env.LOCAL_DIR ?? join(repositoryDir, '.local')))
  return {
    databaseUrl: databaseUrlOf({ databaseUrl, databasePassword }),
    nats: { url: env.NATS_URL ?? '', password: env.NATS_PASSWORD_OPS ?? '' },
  }
}

/** What `--by` says, or who is logged in at this machine; in a container that may be nobody. */
export function operatorName(by: unknown): string {
  if (typeof by === 'string' && by.trim() !== '') return by.trim()
  try {
    return userInfo().username
  } catch (cause) {
    throw new Error('nobody is logged in here: say who you are with --by', { cause })
  }
}

const user = 'ops'
const inboxPrefix = `_INBOX_${user}`
const connectMs = 3_000

/** A person waits: whatever cannot be reached is said within seconds, and not tried again. */
export function openOperator(access: OperatorAccess = operatorAccess()): Operator {
  const sql = openSql(access.databaseUrl, 2)
  let opened: Promise<Bus> | undefined
  const bus = () => {
    opened ??= openBus(access)
    return opened
  }
  return {
    sql,
    bus,
    ask: async (question, request, patience) => asker(await bus())(question, request, patience),
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 })
      const connected = await opened?.catch(() => undefined)
      await connected?.[Symbol.asyncDispose]()
    },
  }
}

async function openBus({ nats }: OperatorAccess): Promise<Bus> {
  const nc = await connection(nats)
  return {
    ...{ nc, name: user, inboxPrefix, copy: nuid.next() },
    js: nc.jetstream({ timeout: connectMs }),
    [Symbol.asyncDispose]: () => nc.close(),
  }
}

const connection = async ({ url, password }: OperatorAccess['nats']): Promise<NatsConnection> => {
  if (url === '') throw new Unavailable('NATS_URL is not set')
  try {
    return await connect({
      ...{ servers: url.split(','), user, pass: password, name: 'operator', inboxPrefix },
      ...{ reconnect: false, timeout: connectMs, noAsyncTraces: true },
    })
  } catch (cause) {
    throw new Unavailable('the bus cannot be reached', { cause })
  }
}
