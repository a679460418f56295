import { connect, DebugEvents, Events, type JetStreamClient, type NatsConnection, nuid } from 'nats'
import { Overdue, pause, within } from '#shared/deadline'
import type { Log } from '#shared/log'
import { type Outage, openOutage } from '#shared/outages/outage'

export type Bus = AsyncDisposable & {
  readonly nc: NatsConnection
  /** The service, or whoever else connected. */
  readonly name: string
  /** Where answers come to this service: nobody else may listen there. */
  readonly inboxPrefix: string
  /** Names this process among the copies of its service; no other process ever has the same name. */
  readonly copy: string
  readonly js: JetStreamClient
}

export type BusOptions = {
  url: string
  user: string
  password: string
  /** The service; also names the inbox, so that nobody else can read its replies. */
  name: string
  log: Log
  /** Called when the connection is closed for good: the process must end and be restarted. */
  onFatal: () => void
}

/**
 * Connects to NATS. The defaults of nats 2.29 give up after ten reconnects and leave `consume()`
 * hanging without an error (measured), so reconnecting never ends and a closed connection is fatal.
 */
export async function openBus(options: BusOptions): Promise<Bus> {
  const outage = openOutage({ name: 'nats', log: options.log, ofIt: isOfTheBus })
  const nc = await connectFirst(options, outage)
  options.log.info({ server: nc.getServer() }, 'bus connected')
  void tellOfBreaks(nc, outage)
  let closing = false
  void nc.closed().then((error) => {
    if (closing) return
    options.log.fatal({ err: error }, 'bus closed')
    options.onFatal()
  })
  return {
    nc,
    name: options.name,
    inboxPrefix: inboxPrefixOf(options.name),
    copy: nuid.next(),
    js: nc.jetstream({ timeout: 3_000 }),
    [Symbol.asyncDispose]: async () => {
      closing = true
      await nc.close()
    },
  }
}

const inboxPrefixOf = (name: string) => `_INBOX_${name}`

/** How calls fail that need the bus. */
const busErrors: ReadonlySet<string> = new Set(['NatsError', 'NobodyThere', 'Unavailable'])
const isOfTheBus = (error: Error) => busErrors.has(error.name) || error instanceof Overdue

/** Whoever reads the log sees when the bus was away, and since when it is back. */
async function tellOfBreaks(nc: NatsConnection, outage: Outage): Promise<void> {
  for await (const { type } of nc.status()) {
    if (type === Events.Disconnect || type === DebugEvents.Reconnecting) outage.failed()
    if (type === Events.Reconnect) outage.back()
  }
}

/** A connection on which the server says nothing for so long is given up. */
const firstConnectMs = 5_000
const againMs = 250

/**
 * The first connection, made again until one stands, and said so meanwhile. By itself nats 2.29 waits
 * 20 s on a connection on which the server says nothing, and tells nobody (measured).
 */
async function connectFirst(options: BusOptions, outage: Outage): Promise<NatsConnection> {
  for (;;) {
    const connecting = connect({
      servers: options.url.split(','),
      user: options.user,
      pass: options.password,
      name: options.name,
      inboxPrefix: inboxPrefixOf(options.name),
      maxReconnectAttempts: -1,
      // By itself nats 2.29 asks for the address once: a server made anew elsewhere is never found.
      resolve: false,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 5_000,
      maxPingOut: 2,
      ignoreAuthErrorAbort: true,
      // By itself nats 2.29 notes for each request where it was made: a trace that nobody reads.
      noAsyncTraces: true,
    })
    try {
      const nc = await within(connecting, firstConnectMs, 'NATS')
      outage.back()
      return nc
    } catch (error) {
      void connecting.then((late) => late.close()).catch(() => {})
      outage.failed(error)
      await pause(againMs)
    }
  }
}
