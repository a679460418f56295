import { type Msg, RequestStrategy } from 'nats'
import type { Bus } from '#shared/bus/open'
import { within } from '#shared/deadline'
import type { ProcessName } from '#shared/messages/topic'

/** Upper limit for the console and for Prometheus, whose whole scrape may take 10 s. */
const gatherMs = 2_000
/**
 * Instances of a process respond at about the same time: once every process has responded, this
 * much silence ends the wait.
 */
const quietMs = 100

/**
 * Sends a request to every instance of every process and collects the responses. Ends when all
 * `awaited` processes have responded, or after 2 s; a process without a response is missing from
 * the result. Throws if the bus is unavailable.
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
