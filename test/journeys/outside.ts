import { openRateWorld } from '../conformance/rates/rate-world'
import { openCollector } from '../support/telemetry/collector'

/** For the stack of `configured.ci.test.ts`. */
export const world = openRateWorld()
export const collector = openCollector()
