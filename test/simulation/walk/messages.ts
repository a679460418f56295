import type { IncomingMessage } from '#platform/bus/handling'
import type { OutboxRow } from '../rows/rows'
import type { Table } from '../rows/table'
import type { Moment, Stage, Task } from './state'

export type Posted = {
  readonly id: string
  readonly subject: string
  readonly text: string
  readonly isDone: boolean
  readonly isRedelivered: boolean
  /** Id of another message with the same content. */
  readonly twin?: string | undefined
  /** Value of a reaction's `orderOf`; messages with the same one are handled one at a time. */
  readonly turn?: string | undefined
}
export type Common = {
  messages: Posted[]
  left: { crashes: number; overtakes: number; doubles: number }
}
export type Step<Outside> = { readonly step: string; readonly to: Moment<Outside> }

export const incoming = ({ id, subject, text }: Posted): IncomingMessage => ({
  messageId: id,
  subject,
  payload: JSON.parse(text),
})

export function post(
  outside: Common,
  message: Pick<Posted, 'id' | 'subject' | 'twin' | 'turn'>,
  payload: unknown,
): void {
  if (outside.messages.some(({ id }) => id === message.id)) return
  const text = JSON.stringify(payload)
  outside.messages.push({ ...message, text, isDone: false, isRedelivered: false })
  outside.messages.sort((left, right) => (left.id < right.id ? -1 : 1))
}

const copies = [0, 1]

/**
 * Drops finished tasks whose message is gone. Once no instance can crash and no message can be delivered twice, it
 * acknowledges the others at once: nothing else depends on that time.
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
  if (posted && outcome === 'done') stage.outside.messages[place] = { ...posted, isDone: true, isRedelivered: false }
}

/** Gives every task to the first instance, once none can crash; the second keeps only duplicates. */
export function forgetCopies<Outside extends Common>(stage: Stage<Outside>): void {
  if (stage.outside.left.crashes > 0) return
  const seen = new Map<string, number>()
  stage.tasks = stage.tasks.map((task) => {
    const copy = seen.get(task.about) ?? 0
    seen.set(task.about, copy + 1)
    return copy === task.copy ? task : { ...task, copy }
  })
}

/**
 * Names webhooks with the same content, which differ only by id: it swaps ids so that the first has progressed further.
 */
export function nameTwins<Outside extends Common>(
  stage: Stage<Outside>,
  inbox: Table<unknown>,
  consumer: string,
): void {
  const { messages } = stage.outside
  const keyed = (id: string) => `${consumer} ${id}`
  const progressOf = ({ id, isDone, isRedelivered }: Posted): string => {
    const tasks = stage.tasks.filter(({ about }) => about === id)
    const working = tasks.map(({ copy, said, outcome }) => `${said.length}${outcome}${copy}`)
    return `${isDone} ${isRedelivered} ${JSON.stringify(inbox.get(keyed(id)))} ${working}`
  }
  for (const [place, second] of messages.entries()) {
    const before = messages.findIndex(({ id }) => id === second.twin)
    const first = messages[before]
    if (!first || progressOf(first) >= progressOf(second)) continue
    const { isDone, isRedelivered } = first
    messages[before] = { ...first, isDone: second.isDone, isRedelivered: second.isRedelivered }
    messages[place] = { ...second, isDone, isRedelivered }
    inbox.swap(keyed(first.id), keyed(second.id))
    const renamed = new Map([
      [first.id, second.id],
      [second.id, first.id],
    ])
    stage.tasks = stage.tasks.map((task) => {
      const about = renamed.get(task.about)
      return about ? { ...task, about } : task
    })
  }
}

/** Publishes messages of the subjects that have a reader. */
export function publish<Outside>({ rows }: Stage<Outside>, outbox: object, followed: readonly string[]): OutboxRow[] {
  const table = rows.outbox(outbox)
  const due = table.where(({ isPublished, subject }) => !isPublished && followed.includes(subject))
  for (const { id } of due) table.update(id, { isPublished: true })
  return due
}

/**
 * Returns the steps of any walk: deliver in any order, to any instance, also twice; answer a task; acknowledge; crash
 * an instance.
 */
export function commonSteps<Outside extends Common>(
  stage: Stage<Outside>,
  moment: Moment<Outside>,
  advance: (at: number) => void,
  isNoted: (id: string) => boolean,
): Step<Outside>[] {
  const found: Step<Outside>[] = []
  const take = (step: string, act: () => void) => {
    stage.load(moment)
    act()
    found.push({ step, to: stage.save() })
  }
  const { messages, left } = moment.outside
  /** Returns true if a message is unhandled. The first of two with the same content counts. */
  const isUntouched = (id: string): boolean => {
    const { isDone, isRedelivered } = messages.find((one) => one.id === id)!
    const isHeld = moment.tasks.some(({ about }) => about === id)
    return !isDone && !isRedelivered && !isHeld && !isNoted(id)
  }
  /** Returns true while a message waits for its turn, until which it equals an undelivered one. */
  const awaitsTurn = (turn: string | undefined, copy: number): boolean => {
    if (turn === undefined) return false
    const working = moment.tasks.filter(
      ({ about, outcome }) => !outcome && messages.find((one) => one.id === about)?.turn === turn,
    )
    // The instance of a task is only known while one may crash.
    if (left.crashes === 0) return working.length >= copies.length
    return working.some((task) => task.copy === copy)
  }
  for (const [place, { id, isDone, twin, turn }] of messages.entries()) {
    if (isDone || (twin !== undefined && isUntouched(id) && isUntouched(twin))) continue
    const holders = moment.tasks.filter(({ about }) => about === id)
    if (holders.length > 0 && left.overtakes === 0) continue
    for (const copy of copies) {
      if (holders.some((task) => task.copy === copy)) continue
      // Instances are interchangeable while both are idle, and once none can crash.
      const isAny = moment.tasks.length === 0 || (left.crashes === 0 && holders.length === 0)
      if ((copy === 1 && isAny) || awaitsTurn(turn, copy)) continue
      const again = holders.length > 0 ? ', while the other works on it' : ''
      take(`copy ${copy} is given ${id}${again}`, () => {
        if (holders.length > 0) stage.outside.left.overtakes -= 1
        const posted = stage.outside.messages[place]!
        stage.outside.messages[place] = { ...posted, isRedelivered: true }
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
        take(`instance ${copy} continues ${about} (${said.length + 1})`, () => advance(at))
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
