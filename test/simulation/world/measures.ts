import type { counter as Counter, timer as Timer } from '#platform/metrics/measures'

// Metrics have no reader in the simulation.

const nothing = () => {}

export const timer: typeof Timer = () => ({ since: nothing, seconds: nothing })
export const counter: typeof Counter = () => nothing
