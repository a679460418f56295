const dayMs = 86_400_000

/**
 * Returns a daily limit in 10⁻⁶ AUSD, with the end of the UTC day of `nowMs`. More may be used than a limit that was
 * lowered during the day.
 */
export const dayLimit = (dayMicro: bigint, usedMicro: bigint, nowMs: number) => ({
  day: dayMicro.toString(),
  left: (usedMicro < dayMicro ? dayMicro - usedMicro : 0n).toString(),
  resetsAt: new Date((Math.floor(nowMs / dayMs) + 1) * dayMs).toISOString(),
})
