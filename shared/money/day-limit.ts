const dayMs = 86_400_000

/**
 * Returns a daily limit (10⁻⁶ AUSD), what is left of it, and the end of the UTC day of `nowMs`. More
 * than the limit may be used, if it was lowered during the day.
 */
export const dayLimit = (dayMicro: bigint, usedMicro: bigint, nowMs: number) => ({
  day: dayMicro.toString(),
  left: (usedMicro < dayMicro ? dayMicro - usedMicro : 0n).toString(),
  resetsAt: new Date((Math.floor(nowMs / dayMs) + 1) * dayMs).toISOString(),
})
