import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseRoles, migrationsDir } from '#infra/migrations/databases'
import { questions, topics } from '#shared/messages/catalogue'
import { holds, personalData, plain } from './personal-data'

type Table = { columns: Record<string, { name: string; type: string }> }

/** Every column that can hold text, as the newest snapshot of each schema's migrations has it. */
const columns = databaseRoles.flatMap((role) => {
  const meta = join(migrationsDir(role), 'meta')
  const newest = readdirSync(meta)
    .filter((file) => file.endsWith('_snapshot.json'))
    .sort()
    .at(-1)!
  const { tables } = JSON.parse(readFileSync(join(meta, newest), 'utf8')) as {
    tables: Record<string, Table>
  }
  return Object.entries(tables).flatMap(([table, { columns: all }]) =>
    Object.values(all)
      .filter(({ type }) => /text|char|json|bytea|inet/.test(type))
      .map(({ name }) => `${table}.${name}`),
  )
})

type Schema = {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

/** Names of the free text fields in a schema: not of numbers, times, enums and hashes. */
function textsIn({ properties = {}, items, anyOf = [] }: Schema): string[] {
  const own = Object.entries(properties).flatMap(([name, one]) => [
    ...(one.type === 'string' && !isNumeral(one) ? [name] : []),
    ...textsIn(one),
  ])
  return [...own, ...[...(items ? [items] : []), ...anyOf].flatMap(textsIn)]
}
const numerals =
  /^(Amount|AusdAmount|FiatAmount|ShareAmount|WeiAmount|UnixSeconds|AuthorizationTime|Timestamp|Hash|Uuid)$/
const isNumeral = (schema: Schema) =>
  'enum' in schema || numerals.test((schema as { title?: string }).title ?? '')

const fields = [
  ...topics.map(({ subject, schema }) => ({ subject, schemas: [schema] })),
  ...questions.map(({ subject, request }) => ({ subject, schemas: [request] })),
].flatMap(({ subject, schemas }) =>
  schemas.flatMap((schema) => textsIn(schema as Schema)).map((name) => `${subject}:${name}`),
)
const places = [...new Set([...columns, ...fields])]
const nameOf = (place: string) => place.split(/[.:](?=[^.:]*$)/)[1]!

describe('the table of personal data', () => {
  test('has every column and message field that can carry text about a person', () => {
    const unknown = places.filter(
      (place) =>
        ![place, nameOf(place)].some((one) => plain.has(one)) &&
        !personalData.some((entry) => holds(entry, place)),
    )
    expect(unknown).toEqual([])
  })
  test('names only places that exist', () => {
    const missing = personalData.flatMap(({ places: named }) =>
      named.filter((one) => !places.some((place) => holds({ places: [one] } as never, place))),
    )
    expect(missing).toEqual([])
  })
  test('knows where bank accounts are', () => {
    const accounts = personalData.find(({ what }) => what.startsWith('bank account'))!
    expect(places.filter((place) => holds(accounts, place)).sort()).toEqual([
      'payouts.cashout.create:accountHolderName',
      'payouts.cashout.create:accountNumber',
      'payouts.cashout.create:channelCode',
      'payouts.payouts.bank_details',
      'payouts.payouts.channel_code',
    ])
  })
})
