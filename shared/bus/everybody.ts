import { type Msg, RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import { within } from '#shared/deadline'
import type { ProcessName } from '#shared/messages/topic'

/** A console is not kept waiting for longer, nor is Prometheus, which gives its whole reading 10 s. */
const gatherMs = 2_000
/** Copies of a process answer together: once each process was heard, so much silence is the end. */
const quietMs = 100

/**
 * Asks every copy of every process on one subject; `read` says whose answer it is. Ends when all that
 * are `awaited` were heard, or after 2 s: whoever does not answer is missing from the list. Throws when
 * there is no bus to ask by.
 */
export async function askEverybody<Answer>(
  { nc }: Bus,
  subject: string,
  awaited: readonly ProcessName[],
  read: (reply: Msg) => { readonly from: string; readonly answer: Answer },
): Promise<Answer[]> {
  const asked = { strategy: RequestStrategy.Timer, maxWait: gatherMs }
  const replies = (await nc.requestMany(subject, undefined, asked))[Symbol.asyncIterator]()
  const silent = new Set<string>(awaited)
  const answers: Answer[] = []
  for (;;) {
    const patienceMs = silent.size === 0 ? quietMs : gatherMs
    const reply = await within(replies.next(), patienceMs, 'the next').catch(() => undefined)
    if (!reply || reply.done) return answers
    const { from, answer } = read(reply.value)
    silent.delete(from)
    answers.push(answer)
  }
}
