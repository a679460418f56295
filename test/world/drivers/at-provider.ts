import { pause } from '#platform/deadline'

const patience = 20

/**
 * Makes a call at the provider; a 4xx is final. It continues after the users have stopped, so that no payment stays
 * half refunded.
 */
export async function atProvider(work: () => Promise<unknown>): Promise<boolean> {
  for (let tries = 0; tries < patience; tries++) {
    try {
      await work()
      return true
    } catch (error) {
      if (/returned 4\d\d/.test((error as Error).message)) return false
      await pause(500)
    }
  }
  return false
}
