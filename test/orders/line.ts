import { connect, type Socket } from 'node:net'
import {
  flush,
  openCutter,
  processOfKeyData,
  readParse,
  readyOutside,
  simpleQuery,
  statementOfBind,
  statusOfReady,
  textOfQuery,
  type WireMessage,
} from './wire'

export type Statement = {
  readonly text: string
  /** Number of the transaction within this order, per connection, from 1; 0 outside of one. */
  readonly transaction: number
}

/**
 * A line holds each statement of one connection until it is released. A write outside a transaction is split into write
 * and commit, so that others can come in between, as on a busy server.
 */
export type Line = {
  /** Returns the process id of the connection at the server. */
  readonly pid: () => number
  readonly waiting: () => Statement | undefined
  readonly isRunning: () => boolean
  readonly isInside: () => boolean
  readonly letGo: () => void
  readonly end: () => void
}

type LineOptions = {
  readonly client: Socket
  readonly server: { readonly host: string; readonly port: number }
  /** Returns the number of the order, from whose start transactions are counted. */
  readonly order: () => number
  /** Returns true for a statement that is held; others belong to the previous step. */
  readonly mustWait: (statement: Statement) => boolean
  readonly changed: () => void
}

type Unit = {
  readonly bytes: Buffer
  readonly text: string | undefined
  /** True if the client sends more before the Sync. Postgres is asked to answer at once, and skips the rest after an error. */
  readonly isAhead: boolean
  /** True if it ends with a Sync, up to which Postgres skips everything after an error. */
  readonly isSynced: boolean
}

const isReading = (text: string): boolean => /^\s*select\b/i.test(text) && !/for update/i.test(text)
const commit = 'commit'
const ownCommit: Unit = { bytes: Buffer.alloc(0), text: commit, isAhead: false, isSynced: false }

export function openLine(options: LineOptions): Line {
  const { client, server: at, mustWait, changed } = options
  const server = connect(at.port, at.host)
  const cutClient = openCutter({ startsBare: true })
  const cutServer = openCutter({ startsBare: false })
  const texts = new Map<string, string>()
  const units: Unit[] = []
  let gathered: Buffer[] = []
  /** Statements whose Sync or Flush the client has not sent yet. */
  let executed: Unit[] = []
  let gatheredText: string | undefined
  let pid = 0
  let transactions = 0
  let order = options.order()
  let status = 'I'
  let running: Unit | undefined
  let waiting: Statement | undefined
  /** Responses outside a transaction, which are kept until the commit. */
  let held: Buffer[] | undefined
  /** Number of outstanding responses to this proxy's own statements. */
  let own = 0
  /** Answers that are written together, because small writes would each wait for an acknowledgement. */
  let answers: Buffer[] = []

  function statementOf(text: string): Statement {
    if (order !== options.order()) transactions = 0
    order = options.order()
    if (text.startsWith('begin')) return { text, transaction: transactions + 1 }
    return { text, transaction: status === 'I' ? 0 : transactions }
  }

  function pump(): void {
    while (!running && !waiting && !held && units.length > 0) {
      const next = units[0]!
      if (next.text === undefined) {
        server.write(units.shift()!.bytes)
        continue
      }
      const statement = statementOf(next.text)
      if (mustWait(statement)) {
        waiting = statement
        changed()
        return
      }
      send()
    }
  }

  function send(): void {
    running = units.shift()!
    const text = running.text!
    if (text.startsWith('begin')) transactions++
    else if (status === 'I' && !isReading(text) && waiting) {
      held = []
      own = 1
      server.write(simpleQuery('begin'))
    }
    waiting = undefined
    server.write(running.bytes)
  }

  function letGo(): void {
    if (waiting?.text !== commit || !held) {
      send()
      return
    }
    waiting = undefined
    running = ownCommit
    own = 1
    server.write(simpleQuery(commit))
  }

  function fromClient(message: WireMessage): void {
    const { letter, bytes } = message
    if (letter === 'P') {
      const { name, text } = readParse(message)
      texts.set(name, text)
    }
    if (letter === 'B') gatheredText = texts.get(statementOfBind(message))
    if (letter === 'Q') gatheredText = textOfQuery(message).trim()
    gathered.push(bytes)
    if (letter === 'E') {
      executed.push({ bytes: Buffer.concat(gathered), text: gatheredText, isAhead: true, isSynced: false })
      gathered = []
    }
    if (!['S', 'Q', 'H', 'p', '', 'X'].includes(letter)) return
    const last = letter === 'S' ? executed.pop() : undefined
    units.push(...executed.map((unit) => ({ ...unit, bytes: Buffer.concat([unit.bytes, flush]) })))
    units.push({
      bytes: Buffer.concat([...(last ? [last.bytes] : []), ...gathered]),
      text: last?.text ?? (letter === 'Q' ? gatheredText : undefined),
      isAhead: false,
      isSynced: letter === 'S',
    })
    executed = []
    gathered = []
    gatheredText = undefined
    pump()
  }

  function fromServer(message: WireMessage): void {
    const { letter, bytes } = message
    if (letter === 'K') pid = processOfKeyData(message)
    if (own > 0) {
      if (letter === 'E') throw new Error(`the proxy's own ${running?.text} failed: ${bytes}`)
      if (letter !== 'Z') return
      own--
      if (running?.text !== commit) return // This was our own begin, after which the statement's answer follows.
      answers.push(...held!, readyOutside)
      held = undefined
      done('I')
      return
    }
    if (letter === 'Z') {
      ready(message)
      return
    }
    ;(held ?? answers).push(bytes)
    if (!running?.isAhead) return
    if (letter === 'E') skip()
    if (letter === 'C') done(running.text?.startsWith('begin') ? 'T' : status)
  }

  /** Sends what Postgres skips after an error, up to the Sync to which it responds. */
  function skip(): void {
    while (running && !running.isSynced && units.length > 0) {
      running = units.shift()!
      server.write(running.bytes)
    }
    if (!running?.isSynced) running = undefined // The client sends the Sync when it reads the error.
  }

  function ready(message: WireMessage): void {
    const now = statusOfReady(message)
    if (!held) {
      answers.push(message.bytes)
      if (running) done(now)
      else status = now
      return
    }
    if (now === 'E') {
      own = 1
      running = ownCommit // This commit rolls back a failed transaction.
      server.write(simpleQuery(commit))
      return
    }
    running = undefined
    waiting = { text: commit, transaction: 0 }
    changed()
  }

  function done(now: string): void {
    status = now
    running = undefined
    pump()
    changed()
  }

  client.on('data', (arrived) => cutClient(arrived as Buffer).forEach(fromClient))
  server.on('data', (arrived) => {
    cutServer(arrived as Buffer).forEach(fromServer)
    if (answers.length > 0) client.write(Buffer.concat(answers))
    answers = []
  })
  server.on('connect', () => server.setNoDelay(true))
  const end = () => {
    client.destroy()
    server.destroy()
  }
  client.setNoDelay(true)
  for (const socket of [client, server]) socket.on('close', end).on('error', end)
  return {
    pid: () => pid,
    waiting: () => waiting,
    isRunning: () => running !== undefined,
    isInside: () => status === 'T' || held !== undefined,
    letGo,
    end,
  }
}
