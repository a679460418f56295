import { connect, type NatsConnection, nuid } from 'nats'
import type { Sql } from 'postgres'
import type { StackFile } from '#infra/local/stack-file'
import type { Proposal, ProposedLine } from '#infra/operations/audit-log/proposals'
import { localStackWithout, openConnection } from '#infra/operations/cli/connection'
import type { Signer } from '#infra/operations/cli/signer'
import { type Ask, asker, Unavailable } from '#platform/bus/ask'
import type { Bus } from '#platform/bus/open'
import { serversOf } from '#platform/bus/servers'
import { readConfig, variableIn } from '#platform/config'
import { databaseUrl, natsServers, text } from '#platform/config-fields'
import { databaseUrlOf } from '#platform/db/url'

/** Credentials of the Postgres role and the NATS user `ops`. */
export type OperatorAccess = {
  readonly databaseUrl: string
  readonly nats: { readonly url: string; readonly password: string }
}

/** Signer of a command, its line, and the proposal that it approves, if it does. */
export type Signing = {
  readonly signer: Signer
  readonly line: ProposedLine
  readonly approving?: Proposal | undefined
}

/** An operator's connections, each opened on first use. */
export type Operator = AsyncDisposable & {
  /** Undefined if the deployment names no operators, and for commands that only read. */
  readonly signing?: Signing | undefined
  /** Connection in the role `ops`, which reads every schema and inserts into its own. */
  readonly sql: Sql
  /** Asks a service. Throws `Unavailable`, `DeadlinePassed` or `Faulted`. */
  readonly ask: Ask
  /** Returns the connection to NATS. Throws `Unavailable` if NATS cannot be reached. */
  readonly bus: () => Promise<Bus>
}

export const accessOf = ({ ops, nats }: StackFile): OperatorAccess => ({
  databaseUrl: ops.databaseUrl,
  nats: { url: nats.url, password: ops.natsPassword },
})

const fields = {
  DATABASE_OPS_URL: databaseUrl({ about: 'Postgres URL of ops' }),
  DATABASE_PASSWORD_OPS: text({ about: 'Postgres password of ops', fallback: '', secret: true }),
  NATS_URL: natsServers({ about: 'nats-server; empty: no bus', fallback: '' }),
  NATS_PASSWORD_OPS: text({ about: 'NATS password of ops', fallback: '', secret: true }),
}

/** Returns the access to the running local stack, or to the deployment if DATABASE_OPS_URL is set. */
export function operatorAccess(env: NodeJS.ProcessEnv = process.env): OperatorAccess {
  if (!variableIn(env, 'DATABASE_OPS_URL'))
    return accessOf(localStackWithout('DATABASE_OPS_URL', { others: ['DATABASE_ADMIN_URL'], env }))
  const config = readConfig('ops', fields, env)
  const { databaseOpsUrl, databasePasswordOps: databasePassword, natsUrl: url } = config
  return {
    databaseUrl: databaseUrlOf({ databaseUrl: databaseOpsUrl, databasePassword }),
    nats: { url, password: config.natsPasswordOps },
  }
}

/**
 * Returns the operator's name: that of the signer, or without one `by`, or else the login name, which a container does not have.
 * It is read from the environment, because without it Bun's `userInfo` calls every operator `unknown`.
 */
export function operatorName(
  by: unknown,
  signer?: Pick<Signer, 'name'>,
  { USER, LOGNAME }: NodeJS.ProcessEnv = process.env,
): string {
  if (signer && by !== undefined && by !== signer.name)
    throw new Error(`--by is ${by}, but the key in OPERATOR_KEY_FILE is that of ${signer.name}`)
  if (signer) return signer.name
  if (typeof by === 'string' && by.trim() !== '') return by.trim()
  const login = USER || LOGNAME
  if (!login) throw new Error('no login name in USER or LOGNAME: add --by <your name>')
  return login
}

const user = 'ops'
const inboxPrefix = `_INBOX_${user}`
const connectMs = 3_000

/** Opens an operator's connections, with short timeouts and no retries, because an operator waits. */
export function openOperator(access: OperatorAccess = operatorAccess(), signing?: Signing): Operator {
  const sql = openConnection(access.databaseUrl, 2)
  let opened: Promise<Bus> | undefined
  const bus = () => {
    opened ??= openBus(access)
    return opened
  }
  return {
    sql,
    signing,
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
    nc,
    name: user,
    inboxPrefix,
    copy: nuid.next(),
    js: nc.jetstream({ timeout: connectMs }),
    [Symbol.asyncDispose]: () => nc.close(),
  }
}

const connection = async ({ url, password }: OperatorAccess['nats']): Promise<NatsConnection> => {
  if (url === '') throw new Unavailable('NATS_URL is not set')
  try {
    return await connect({
      ...serversOf(url),
      user,
      pass: password,
      name: 'operator',
      inboxPrefix,
      reconnect: false,
      timeout: connectMs,
      noAsyncTraces: true,
    })
  } catch (cause) {
    throw new Unavailable(`NATS cannot be reached: ${(cause as Error).message}`, { cause })
  }
}
