import { openRateWorld } from '../conformance/rates/rate-world'
import { openCollector } from '../support/telemetry/collector'

/** Servers that the stack of `configured.ci.test.ts` uses. */
export const world = openRateWorld()
export const collector = openCollector()
