import type { Endpoint } from './endpoint.ts'

/** What this process last saw of the chain: for `nats micro stats`, never for decisions. */
export type Figures = {
  finalized: number | null
  rangeBlocks: number | null
  endpoint: string | null
  lastOkAtMs: number | null
  lastError: string | null
  /** Events that a first answer lacked and a second one brought. */
  repaired: number
  /** Times a second answer lacked what a first one had. */
  disputed: number
}

export const noFigures = (): Figures => ({
  finalized: null,
  rangeBlocks: null,
  endpoint: null,
  lastOkAtMs: null,
  lastError: null,
  repaired: 0,
  disputed: 0,
})

export function noteEndpoint(figures: Figures, endpoint: Endpoint): void {
  figures.endpoint = endpoint.host
  figures.finalized = endpoint.finalized()
  figures.rangeBlocks = endpoint.range().blocks
}
