import { type JetStreamClient, type KV, StringCodec } from 'nats'
import { type Static, Type } from 'typebox'
import { within } from '#platform/deadline'
import { schemaReader } from '#platform/schema'
import { Amount, Pair as PairField } from '#shared/messages/fields'
import { type Pair, pairKey } from '#shared/money/pair'
import { dayOf, type Sighting } from './rate'

const Stored = Type.Object({
  source: Type.String(),
  pair: PairField,
  localE8PerUsd: Amount,
  asOfMs: Type.Integer(),
  day: Type.String(),
})

/** The bucket `rates`, which has the last rate of each source and the last used one. Reading a malformed rate throws. */
export type RateStore = {
  readonly remember: (sighting: Sighting) => Promise<void>
  readonly recall: (source: string, pair: Pair) => Promise<Sighting | null>
  readonly accept: (sighting: Sighting) => Promise<void>
  readonly findAccepted: (pair: Pair) => Promise<Sighting | null>
  /** Returns the day for which an operator released a jump. */
  readonly findReleasedDay: (pair: Pair) => Promise<string | undefined>
}

const deadlineMs = 3_000
const codec = StringCodec()

export async function openRateStore(js: JetStreamClient): Promise<RateStore> {
  const kv = await js.views.kv('rates', { bindOnly: true })
  return {
    remember: (sighting) => put(kv, `seen.${sighting.source}.${pairKey(sighting.pair)}`, sighting),
    recall: (source, pair) => get(kv, `seen.${source}.${pairKey(pair)}`),
    accept: (sighting) => put(kv, `accepted.${pairKey(sighting.pair)}`, sighting),
    findAccepted: (pair) => get(kv, `accepted.${pairKey(pair)}`),
    findReleasedDay: async (pair) => {
      const entry = await within(kv.get(`release.${pairKey(pair)}`), deadlineMs, 'the rates bucket')
      return entry?.operation === 'PUT' ? entry.string().trim() : undefined
    },
  }
}

async function put(kv: KV, key: string, sighting: Sighting): Promise<void> {
  const stored: Static<typeof Stored> = {
    ...sighting,
    localE8PerUsd: sighting.localE8PerUsd.toString(),
    day: dayOf(sighting.asOfMs),
  }
  await within(kv.put(key, codec.encode(JSON.stringify(stored))), deadlineMs, 'the rates bucket')
}

async function get(kv: KV, key: string): Promise<Sighting | null> {
  const entry = await within(kv.get(key), deadlineMs, 'the rates bucket')
  if (entry?.operation !== 'PUT') return null
  const read = schemaReader(Stored)(entry.json())
  if ('fault' in read) throw new Error(`${key} in the rates bucket is malformed: ${read.fault}`)
  const { source, pair, localE8PerUsd, asOfMs } = read.value
  return { source, pair, localE8PerUsd: BigInt(localE8PerUsd), asOfMs }
}
