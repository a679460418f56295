import { openRateWorld } from '../conformance/rates/rate-world'
import { openCollector } from '../support/telemetry/collector'

/** The stack of `configured.ci.test.ts` uses these. */
export const world = openRateWorld()
export const collector = openCollector()
