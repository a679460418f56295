/**
 * Returns a daily limit in 10⁻⁶ AUSD, with the end of the day in which `usedMicro` were used. More may be used than a limit
 * that was lowered during the day.
 */
export const dayLimit = (dayMicro: bigint, usedMicro: bigint, endMs: number) => ({
  day: dayMicro.toString(),
  left: (usedMicro < dayMicro ? dayMicro - usedMicro : 0n).toString(),
  resetsAt: new Date(endMs).toISOString(),
})
