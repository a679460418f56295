import type { IncomingMessage } from '#platform/bus/handling'
import { chance, oneOf } from './choices'
import { acknowledging } from './faults'
import type { Process, World } from './world'

/** Time in ms until a redelivery, as in the JetStream configuration. */
const ackWaitMs = 20_000
const inFlightMax = 8

/** Age in ms of a stored message up to which its first delivery is fresh, as in `shared/platform/bus/consume.ts`. */
const freshMs = 10_000

type Waiting = {
  readonly message: IncomingMessage
  readonly storedAt: number
  /** Message as JSON, of which each reader parses its own copy. */
  readonly text: string
  deliveries: number
  isDone: boolean
  readonly workers: Process[]
  heldUntil: number
}

export type Reader = {
  readonly process: Process
  readonly handle: (message: IncomingMessage) => Promise<'done' | { retryInMs: number }>
}

/**
 * A broker that delivers at least once, in any order, and again if an acknowledgement is lost. A few messages are lost,
 * as by a damaged stream.
 */
export class Broker {
  #stored = new Set<string>()
  #queues = new Map<string, Waiting[]>()
  #readers = new Map<string, Reader[]>()
  #working = new Map<Process, number>()
  waiting = 0

  constructor(
    private readonly world: World,
    private readonly consumersOf: (subject: string) => readonly string[],
  ) {}

  read(consumer: string, reader: Reader): void {
    this.#readers.set(consumer, [...(this.#readers.get(consumer) ?? []), reader])
    this.#wake(consumer)
  }

  /** Stores a message once per id, within the deduplication window. */
  publish(message: { id: string; subject: string; payload: unknown }): 'stored' | 'duplicate' {
    const { world } = this
    const { id: messageId, subject, payload } = message
    if (this.#stored.has(messageId)) {
      if (world.isCalm || !chance(world.choices, 150)) {
        world.saw('a message was published twice, and stored once')
        return 'duplicate'
      }
      world.saw('a message was published again after the deduplication window')
    }
    this.#stored.add(messageId)
    const text = JSON.stringify(payload)
    for (const consumer of this.consumersOf(subject)) {
      if (!world.isCalm && chance(world.choices, 10)) {
        world.saw('a stream lost a message that it had acknowledged')
        world.tell(`${subject} ${messageId} is lost to ${consumer}`)
        continue
      }
      const waiting = {
        message: { subject, messageId, payload: undefined },
        storedAt: world.now,
        text,
        deliveries: 0,
        isDone: false,
        workers: [],
        heldUntil: 0,
      }
      this.#queueOf(consumer).push(waiting)
      this.waiting += 1
      this.#plan(consumer, waiting, oneOf(world.choices, 12))
    }
    return 'stored'
  }

  has(messageId: string): boolean {
    return this.#stored.has(messageId)
  }

  #queueOf(consumer: string): Waiting[] {
    const queue = this.#queues.get(consumer) ?? []
    this.#queues.set(consumer, queue)
    return queue
  }

  #plan(consumer: string, waiting: Waiting, ms: number): void {
    this.world.after(ms, undefined, () => this.#deliver(consumer, waiting))
  }

  #wake(consumer: string): void {
    for (const waiting of this.#queueOf(consumer))
      if (waiting.heldUntil <= this.world.now) this.#plan(consumer, waiting, 1)
  }

  #deliver(consumer: string, waiting: Waiting): void {
    const { world } = this
    if (waiting.isDone || waiting.heldUntil > world.now) return
    const all = this.#readers.get(consumer) ?? []
    const readers = all.filter(({ process }) => process.isAlive && (this.#working.get(process) ?? 0) < inFlightMax)
    const reader = readers[oneOf(world.choices, readers.length)]
    if (!reader) {
      this.#plan(consumer, waiting, 200)
      return
    }
    const { process } = reader
    const isRedelivered = waiting.deliveries > 0
    waiting.deliveries += 1
    waiting.heldUntil = world.now + ackWaitMs
    this.#plan(consumer, waiting, ackWaitMs)
    this.#working.set(process, (this.#working.get(process) ?? 0) + 1)
    if (isRedelivered) world.saw('a message was delivered again')
    if (waiting.workers.some((one) => one !== process && one.isAlive))
      world.saw('two instances worked on one message at once')
    waiting.workers.push(process)
    if (world.story) world.tell(`${process.name} is given ${waiting.message.subject}${isRedelivered ? ' again' : ''}`)
    const payload = JSON.parse(waiting.text)
    const isFresh = !isRedelivered && world.now - waiting.storedAt <= freshMs
    world.current = process
    void reader
      .handle({ ...waiting.message, payload, isFresh })
      .finally(() => {
        this.#working.set(process, (this.#working.get(process) ?? 1) - 1)
        waiting.workers.splice(waiting.workers.indexOf(process), 1)
      })
      .then((outcome) =>
        outcome === 'done'
          ? this.#acknowledge(process, consumer, waiting)
          : this.#again(consumer, waiting, outcome.retryInMs),
      )
      .catch((error) => world.bugs.add(String(error))) // An error is a finding, because a handler never throws.
  }

  #acknowledge(process: Process, consumer: string, waiting: Waiting): Promise<void> {
    return this.world
      .leave(process, acknowledging, 'acknowledges', () => {
        if (waiting.isDone) return
        waiting.isDone = true
        this.waiting -= 1
        const queue = this.#queueOf(consumer)
        queue.splice(queue.indexOf(waiting), 1)
      })
      .catch(() => this.world.saw('an acknowledgement was lost'))
  }

  #again(consumer: string, waiting: Waiting, ms: number): void {
    if (waiting.isDone) return
    waiting.heldUntil = this.world.now + ms
    this.#plan(consumer, waiting, ms)
  }

  forget(process: Process): void {
    this.#working.delete(process)
    for (const [consumer, readers] of this.#readers)
      this.#readers.set(
        consumer,
        readers.filter((one) => one.process !== process),
      )
  }
}
