import { pause } from '#platform/deadline'

const patience = 20

/**
 * Makes a call at the provider; a 4xx is final. It continues after the users have stopped, so that no payment stays
 * half refunded. Calls `onRefused` only if no earlier attempt may have taken effect.
 */
export async function atProvider(
  work: () => Promise<unknown>,
  onRefused: (reason: string) => void = () => {},
): Promise<boolean> {
  for (let tries = 0; tries < patience; tries++) {
    try {
      await work()
      return true
    } catch (error) {
      const { message } = error as Error
      if (/returned 4\d\d/.test(message)) {
        if (tries === 0) onRefused(message)
        return false
      }
      await pause(500)
    }
  }
  return false
}
