import type { counter as Counter, timer as Timer } from '#shared/metrics/measures'

// Stands in for what a process measures: nobody reads it here.

const nothing = () => {}

export const timer: typeof Timer = () => ({ since: nothing, seconds: nothing })
export const counter: typeof Counter = () => nothing
