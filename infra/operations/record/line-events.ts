import { type AbiEvent, type Hex, parseEventLogs, type RpcLog, toEventSelector } from 'viem'
import { creditLineAbi } from '#shared/chain/credit-line-abi.gen'

/** Topics of the events that change state, which all have a `sequence`. */
export const eventTopics: Hex[] = (creditLineAbi as readonly { type: string }[])
  .filter((item): item is AbiEvent => item.type === 'event')
  .filter(({ inputs }) => inputs.some(({ name }) => name === 'sequence'))
  .map(toEventSelector)

export const parseEvents = (logs: RpcLog[]) => parseEventLogs({ abi: creditLineAbi, logs: logs as never, strict: true })
export type Event = ReturnType<typeof parseEvents>[number]
export type EventNamed<N extends Event['eventName']> = Extract<Event, { eventName: N }>

export const named = <N extends Event['eventName']>(events: readonly Event[], name: N) =>
  events.filter((event): event is EventNamed<N> => event.eventName === name)

export const last = <N extends Event['eventName']>(events: readonly Event[], name: N) => named(events, name).at(-1)
