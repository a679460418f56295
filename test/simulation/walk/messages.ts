import type { IncomingMessage } from '#shared/bus/handling'
import type { Moment, Stage, Task } from './stage'

/** A message that its consumer has not yet acknowledged, or has. */
export type Posted = {
  readonly id: string
  readonly subject: string
  readonly text: string
  readonly isDone: boolean
  /** It was delivered before, as far as the broker knows. */
  readonly isRedelivered: boolean
  /** Another one that says the same. */
  readonly twin?: string | undefined
}
/** What every walk has outside of the services, besides its own. */
export type Common = {
  messages: Posted[]
  /** How often each of the rare things may still happen. */
  left: { crashes: number; overtakes: number; doubles: number }
}
export type Step<Outside> = { readonly step: string; readonly to: Moment<Outside> }

export const incoming = ({ id, subject, text, isRedelivered }: Posted): IncomingMessage => ({
  ...{ messageId: id, subject, payload: JSON.parse(text), isRedelivered },
})

/** Puts a message into its stream, once by its id. */
export function post(
  outside: Common,
  message: { readonly id: string; readonly subject: string; readonly twin?: string | undefined },
  payload: unknown,
): void {
  if (outside.messages.some(({ id }) => id === message.id)) return
  const text = JSON.stringify(payload)
  outside.messages.push({ ...message, text, isDone: false, isRedelivered: false })
  outside.messages.sort((left, right) => (left.id < right.id ? -1 : 1))
}

const copies = [0, 1]

/**
 * Ends the work that nobody can tell from work that has ended: what no message is about, and, where
 * no copy dies and no message is given to two any more, what its message waits for. An acknowledgement
 * is always possible, takes no other step's possibility away, and nothing but a crash, or a second
 * delivery, ever sees whether it came; so it may as well come at once, and no outcome is left out.
 */
export function acknowledgeUnseen<Outside extends Common>(stage: Stage<Outside>): void {
  const { left, messages } = stage.outside
  const isUnseen = left.crashes === 0 && left.overtakes === 0
  for (const task of [...stage.tasks])
    if (task.outcome && (isUnseen || messages.every(({ id }) => id !== task.about)))
      acknowledge(stage, stage.tasks.indexOf(task))
}

function acknowledge<Outside extends Common>(stage: Stage<Outside>, at: number): void {
  const [{ about, outcome }] = stage.tasks.splice(at, 1) as [Task]
  const place = stage.outside.messages.findIndex((one) => one.id === about)
  const posted = stage.outside.messages[place]
  if (posted && outcome === 'done')
    stage.outside.messages[place] = { ...posted, isDone: true, isRedelivered: false }
}

/**
 * What brokers and processes do by themselves, whatever the services are about: deliver, in any order
 * and to any copy, and again while somebody works on it; answer a task; acknowledge; end a copy.
 */
export function commonSteps<Outside extends Common>(
  stage: Stage<Outside>,
  moment: Moment<Outside>,
  advance: (at: number) => void,
  /** Whether any row is about a message. */
  isNoted: (id: string) => boolean,
): Step<Outside>[] {
  const found: Step<Outside>[] = []
  const take = (step: string, act: () => void) => {
    stage.load(moment)
    act()
    stage.tasks.sort((left, right) =>
      `${left.about} ${left.copy}` < `${right.about} ${right.copy}` ? -1 : 1,
    )
    found.push({ step, to: stage.save() })
  }
  const { messages, left } = moment.outside
  /** Nobody was given it; of two such that say the same it is the same which comes first. */
  const isUntouched = (id: string): boolean => {
    const { isDone, isRedelivered } = messages.find((one) => one.id === id)!
    const isHeld = moment.tasks.some(({ about }) => about === id)
    return !isDone && !isRedelivered && !isHeld && !isNoted(id)
  }
  for (const [place, { id, isDone, twin }] of messages.entries()) {
    if (isDone || (twin !== undefined && isUntouched(id) && isUntouched(twin))) continue
    const holders = moment.tasks.filter(({ about }) => about === id)
    if (holders.length > 0 && left.overtakes === 0) continue
    for (const copy of copies) {
      if (holders.some((task) => task.copy === copy)) continue
      // With nothing under way one copy is as good as the other.
      if (copy === 1 && moment.tasks.length === 0) continue
      const again = holders.length > 0 ? ', while the other works on it' : ''
      take(`copy ${copy} is given ${id}${again}`, () => {
        if (holders.length > 0) stage.outside.left.overtakes -= 1
        const posted = stage.outside.messages[place]!
        stage.outside.messages[place] = { ...posted, isRedelivered: holders.length > 0 }
        stage.tasks.push({ copy, about: id, said: [] })
      })
    }
  }
  for (const [at, { copy, about, outcome, said }] of moment.tasks.entries()) {
    if (!outcome) {
      stage.ways = 1
      for (let way = 0; way < stage.ways; way++) {
        stage.way = way
        const ways = () => (stage.ways > 1 ? `, way ${way}` : '')
        take(`copy ${copy} goes on with ${about} (${said.length + 1})`, () => advance(at))
        const last = found.at(-1)!
        found[found.length - 1] = { ...last, step: `${last.step}${ways()}` }
      }
      stage.way = 0
      continue
    }
    const word = outcome === 'done' ? 'acknowledges' : 'gives back'
    take(`copy ${copy} ${word} ${about}`, () => acknowledge(stage, at))
  }
  if (left.crashes > 0)
    for (const copy of copies)
      if (moment.tasks.some((task) => task.copy === copy))
        take(`copy ${copy} is killed`, () => {
          stage.outside.left.crashes -= 1
          stage.tasks = stage.tasks.filter((task) => task.copy !== copy)
        })
  return found
}
