import type { counter as Counter, timer as Timer } from '#platform/metrics/measures'

// Stand-ins for metrics, which have no reader here.

const nothing = () => {}

export const timer: typeof Timer = () => ({ since: nothing, seconds: nothing })
export const counter: typeof Counter = () => nothing
