import type { Clock } from '#platform/clock'
import type { Database } from '#platform/db/open'
import type { Log } from '#platform/log'
import type { RpcEndpoints } from '#shared/chain/endpoints'
import { type Endpoint, type Endpoints, openEndpoint, openEndpoints } from './chain/endpoints'
import type { ExpectedChain } from './chain/identity'
import { openRpc } from './chain/rpc'
import type { ProjectionOrigin } from './cursor.store'

export type Context = {
  readonly database: Database
  readonly endpoints: Endpoints
  readonly rpc: RpcEndpoints
  readonly origin: ProjectionOrigin
  readonly pollMs: number
  readonly lagMaxMs: number
  readonly figures: ReaderFigures
  readonly clock: Clock
  /** Start of the process in Unix ms, from which the lag counts as long as no record is served. */
  readonly startedAtMs: number
  readonly log: Log
}

export function openContext(
  options: Pick<Context, 'database' | 'rpc' | 'pollMs' | 'lagMaxMs' | 'clock' | 'log'> & {
    identity: ExpectedChain
    deployBlock: number
    logsRangeMax: number
  },
): Context {
  const { rpc, identity, deployBlock, logsRangeMax, ...rest } = options
  const endpoints = rpc.all.map((endpoint) => openEndpoint(openRpc(rpc, endpoint), identity, logsRangeMax))
  return {
    ...rest,
    rpc,
    startedAtMs: rest.clock(),
    endpoints: openEndpoints(endpoints),
    origin: { chainId: identity.chainId, contract: identity.contract, deployBlock },
    figures: {
      finalized: null,
      rangeBlocks: null,
      endpoint: null,
      lastOkAtMs: null,
      lastError: null,
      incomplete: 0,
    },
  }
}

/** Figures for display, which are never used for decisions. */
export type ReaderFigures = {
  finalized: number | null
  rangeBlocks: number | null
  endpoint: string | null
  lastOkAtMs: number | null
  lastError: string | null
  incomplete: number
}

export function recordSuccess({ figures, clock }: Context, endpoint: Endpoint): void {
  figures.lastOkAtMs = clock()
  recordEndpoint(figures, endpoint)
}

export function recordFault(context: Context, endpoint: Endpoint, fault: unknown): void {
  const { endpoints, figures, log } = context
  const { message } = fault as Error
  endpoints.blame(endpoint, fault)
  recordEndpoint(figures, endpoint)
  // An endpoint that is down fails several times a second, so each new message is logged once.
  if (figures.lastError !== message) log.warn({ endpoint: endpoint.host, err: fault }, 'endpoint failed')
  figures.lastError = message
}

function recordEndpoint(figures: ReaderFigures, endpoint: Endpoint): void {
  figures.endpoint = endpoint.host
  figures.finalized = endpoint.finalized()
  figures.rangeBlocks = endpoint.range().blocks
}
