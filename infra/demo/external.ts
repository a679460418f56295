import type { StackFile } from '#infra/local/stack-file'
import type { Verdict } from '#infra/sandbox/identity/verdict'

export type ExternalControls = ReturnType<typeof outsideOf>

// biome-ignore lint/suspicious/noExplicitAny: the book is read by tests, field by field
type Book = Record<string, any[]>

type CalledEvent = { readonly status: number; readonly event: { readonly type: string } }

const deadlineMs = 30_000

export function outsideOf(stack: Pick<StackFile, 'sandbox'>) {
  const control = async (path: string, body: unknown = {}) => {
    const answer = await fetch(`${stack.sandbox}/control/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(deadlineMs),
    })
    if (!answer.ok) throw new Error(`the sandbox returned ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  return {
    control,
    pay: (session: string, channel_code: string) => control(`sessions/${session}/pay`, { channel_code }),
    fail: (session: string) => control(`sessions/${session}/fail`),
    expire: (session: string) => control(`sessions/${session}/expire`),
    refund: (payment: string) => control(`payments/${payment}/refund`),
    identity: (wallet: string, verdict: Verdict) => control(`identity/${wallet.toLowerCase()}`, { verdict }),
    /** Returns the chain's new time in Unix seconds. */
    advance: (seconds: number): Promise<{ chainTime: string }> => control('chain/advance', { seconds }),
    faults: (faults: unknown) => control('faults', faults),
    calm: () =>
      control('faults', {
        webhooks: { drop: 0, duplicate: 0, reorder: false, delayMs: 0 },
        api: { errorRate: 0, timeoutAfterAccept: 0, delayMs: 0 },
      }),
    book: async (): Promise<Book> =>
      (
        await fetch(`${stack.sandbox}/control/book`, { signal: AbortSignal.timeout(deadlineMs) })
      ).json() as Promise<Book>,
    /** Returns the events that the sandbox got as the integrator's server, with the status of each answer. */
    events: async (): Promise<CalledEvent[]> => {
      const answer = await fetch(`${stack.sandbox}/control/events`, { signal: AbortSignal.timeout(deadlineMs) })
      return ((await answer.json()) as { received: CalledEvent[] }).received
    },
  }
}
