import { connect, Events, type JetStreamClient, type NatsConnection, nuid } from 'nats'
import { serversOf } from '#platform/bus/servers'
import { DeadlinePassed, pause, within } from '#platform/deadline'
import type { Log } from '#platform/log'
import { type Outage, openOutage } from '#platform/outage'

export type Bus = AsyncDisposable & {
  readonly nc: NatsConnection
  readonly name: string
  /** Prefix of reply subjects, to which no other user may subscribe. */
  readonly inboxPrefix: string
  /** Id of this instance, unique among all processes. */
  readonly copy: string
  readonly js: JetStreamClient
}

export type BusOptions = {
  url: string
  user: string
  password: string
  /** Name of the connection, which also names the inbox. */
  name: string
  log: Log
  /** Callback when the connection is closed permanently: the process must exit and be restarted. */
  onFatal: () => void
}

/**
 * Connects to NATS. By default nats 2.29 gives up after ten reconnects and leaves `consume()` hanging (measured), so
 * here reconnecting never ends, and a closed connection is fatal.
 */
export async function openBus(options: BusOptions): Promise<Bus> {
  const outage = openOutage({ name: 'nats', log: options.log, fields: { user: options.user }, ofIt: isOfTheBus })
  const nc = await connectFirst(options, outage)
  options.log.info({ server: nc.getServer(), user: options.user }, 'NATS connected')
  void tellOfBreaks(nc, outage)
  let closing = false
  void nc.closed().then((error) => {
    if (closing) return
    options.log.fatal({ err: error }, 'NATS connection closed')
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

/** Names of the errors that an outage of the bus causes. */
const busErrors: ReadonlySet<string> = new Set(['NatsError', 'NobodyThere', 'Unavailable'])
const isOfTheBus = (error: Error) => busErrors.has(error.name) || error instanceof DeadlinePassed

/** Status with the error of a failed reconnect. Only the patched client reports it. */
const dialFailed = 'dialFailed'

async function tellOfBreaks(nc: NatsConnection, outage: Outage): Promise<void> {
  for await (const { type, data } of nc.status()) {
    if (type === Events.Disconnect) outage.failed()
    if (String(type) === dialFailed) outage.failed(data)
    if (type === Events.Reconnect) outage.back()
  }
}

/** Longest silence of a server on a new connection, in ms; the default is 20 s. */
const connectMs = 5_000
const againMs = 250

async function connectFirst(options: BusOptions, outage: Outage): Promise<NatsConnection> {
  for (;;) {
    const connecting = connect({
      ...serversOf(options.url),
      user: options.user,
      pass: options.password,
      name: options.name,
      inboxPrefix: inboxPrefixOf(options.name),
      timeout: connectMs,
      maxReconnectAttempts: -1,
      // By default nats 2.29 resolves the host once and never finds a server that moved.
      resolve: false,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 5_000,
      maxPingOut: 2,
      ignoreAuthErrorAbort: true,
      // By default nats 2.29 captures an unused stack trace per request.
      noAsyncTraces: true,
    })
    try {
      const nc = await within(connecting, connectMs, 'NATS')
      outage.back()
      return nc
    } catch (error) {
      void connecting.then((late) => late.close()).catch(() => {})
      outage.failed(error)
      await pause(againMs)
    }
  }
}
