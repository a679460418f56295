import type { RpcEndpoints } from '#shared/chain/endpoints'
import type { Clock } from '#shared/clock'
import type { Database } from '#shared/db/open'
import type { Log } from '#shared/log'
import { type Endpoint, type Endpoints, openEndpoint, openEndpoints } from './chain/endpoints'
import type { ChainIdentity } from './chain/identity'
import type { Origin } from './cursor.store'

/** What every part of the service works with. */
export type Context = {
  readonly database: Database
  readonly endpoints: Endpoints
  /** The same endpoints, as everything in this process asks them. */
  readonly rpc: RpcEndpoints
  readonly origin: Origin
  /** A chain on one machine, that is put back by some blocks when it is killed. */
  readonly isShortened: boolean
  readonly pollMs: number
  /** An answer from further behind the chain than this is refused. */
  readonly lagMaxMs: number
  readonly figures: Figures
  readonly clock: Clock
  readonly log: Log
}

export function openContext(
  options: Pick<
    Context,
    'database' | 'rpc' | 'isShortened' | 'pollMs' | 'lagMaxMs' | 'clock' | 'log'
  > & {
    identity: ChainIdentity
    deployBlock: number
    logsRangeMax: number
  },
): Context {
  const { rpc, identity, deployBlock, logsRangeMax, ...rest } = options
  const { clock } = rest
  const endpoints = rpc.all.map((endpoint) =>
    openEndpoint({ endpoint, endpoints: rpc }, identity, logsRangeMax, clock),
  )
  return {
    ...rest,
    rpc,
    endpoints: openEndpoints(endpoints, clock),
    origin: { chainId: identity.chainId, contract: identity.contract, deployBlock },
    figures: {
      finalized: null,
      rangeBlocks: null,
      endpoint: null,
      lastOkAtMs: null,
      lastError: null,
      repaired: 0,
      disputed: 0,
    },
  }
}

/** What this process last saw of the chain: for `nats micro stats`, never for decisions. */
export type Figures = {
  finalized: number | null
  rangeBlocks: number | null
  endpoint: string | null
  lastOkAtMs: number | null
  lastError: string | null
  /** Events that a first answer lacked and a recheck added. */
  repaired: number
  /** Rechecks whose answer lacked what the first one had. */
  disputed: number
}

export function noteSuccess({ figures, clock }: Context, endpoint: Endpoint): void {
  figures.lastOkAtMs = clock()
  noteEndpoint(figures, endpoint)
}

export function noteFault(context: Context, endpoint: Endpoint, fault: unknown): void {
  const { endpoints, figures, log } = context
  const { message } = fault as Error
  endpoints.blame(endpoint, fault)
  noteEndpoint(figures, endpoint)
  // An endpoint that is away fails several times a second: one line for each new message.
  if (figures.lastError !== message)
    log.warn({ endpoint: endpoint.host, err: fault }, 'endpoint failed')
  figures.lastError = message
}

function noteEndpoint(figures: Figures, endpoint: Endpoint): void {
  figures.endpoint = endpoint.host
  figures.finalized = endpoint.finalized()
  figures.rangeBlocks = endpoint.range().blocks
}
