import { createServer, type Socket } from 'node:net'
import { type Database, openDatabase } from '#platform/db/open'
import { openLog } from '#platform/log'
import type { ScratchPostgres } from '#test/support/scratch-postgres'
import { type Line, openLine, type Statement } from './line'

export type Side = AsyncDisposable & {
  readonly name: string
  /** Opens a database as a service does, under its role, with one connection. */
  readonly database: (role: Role) => Database
  /** A step outside Postgres, which is held like a statement. */
  readonly outside: (what: string) => Promise<void>
  /** Connects beforehand, because connecting is no step of an order. */
  readonly connect: () => Promise<void>
  readonly lines: ReadonlySet<Line>
}
export type Role = 'payments' | 'payouts' | 'pricing' | 'chain_relayer'

export type Rules = {
  /** True within an order; nothing is held outside of one. */
  isOn: boolean
  order: number
  readonly turns: (statement: Statement) => boolean
  changed: () => void
}

const log = openLog('orders', process.env.SUITE_LOG ?? 'silent')

export async function openSide(name: string, postgres: ScratchPostgres, rules: Rules): Promise<Side> {
  const { hostname: host, port } = new URL(postgres.adminUrl)
  const lines = new Set<Line>()
  const server = createServer((client: Socket) => {
    const line = openLine({
      client,
      server: { host, port: Number(port) },
      order: () => rules.order,
      mustWait: (statement) => rules.isOn && rules.turns(statement),
      changed: () => rules.changed(),
    })
    lines.add(line)
    client.on('close', () => lines.delete(line))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = (server.address() as { port: number }).port
  await using ends = new AsyncDisposableStack()
  ends.defer(() => {
    for (const line of lines) line.end()
    server.close()
  })
  const kept = ends.move()
  const databases: Database[] = []
  return {
    name,
    lines,
    database: (role) => {
      const url = new URL(postgres.urlAs(role, postgres.passwords[role]))
      url.port = String(own)
      // The other side takes turns in the meantime, which on a busy machine takes longer than a service would wait.
      const patience = { lockTimeoutMs: 4_500, onFatal: () => {} }
      const options = { url: url.toString(), name: `${role} ${name}`, log, max: 1 }
      const database = kept.use(openDatabase({ ...options, ...patience }))
      databases.push(database)
      return database
    },
    connect: async () => {
      for (const database of databases) await database.read((db) => db.execute('select 1'))
    },
    outside: async (what) => {
      const statement = { text: what, transaction: 0 }
      if (!rules.isOn || !rules.turns(statement)) return
      const turn = Promise.withResolvers<void>()
      const letGo = () => {
        lines.delete(line)
        turn.resolve()
      }
      const line = lineOfCall(statement, letGo)
      lines.add(line)
      rules.changed()
      await turn.promise
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const lineOfCall = (statement: Statement, letGo: () => void): Line => ({
  pid: () => 0,
  isRunning: () => false,
  isInside: () => false,
  end: () => {},
  waiting: () => statement,
  letGo,
})
