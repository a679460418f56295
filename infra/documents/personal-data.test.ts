import { describe, expect, test } from 'bun:test'
import { Type } from 'typebox'
import { questions, topics } from '#shared/messages/catalogue'
import { newestTables } from '#test/support/newest-tables'
import { holds, holdsAny, isPlain, personalData, plainNames, plainPlaces } from './personal-data'

const columns = newestTables().flatMap(([table, { columns: all }]) =>
  Object.values(all).map(({ name }) => `${table}.${name}`),
)

type Schema = {
  type?: string
  title?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}

function textsIn({ properties = {}, items, anyOf = [] }: Schema): string[] {
  const own = Object.entries(properties).flatMap(([name, one]) => [
    ...([one, ...(one.anyOf ?? [])].some(isText) ? [name] : []),
    ...textsIn(one),
  ])
  return [...own, ...[...(items ? [items] : []), ...anyOf].flatMap(textsIn)]
}
const numerals =
  /^(Amount|AusdAmount|FiatAmount|ShareAmount|WeiAmount|UnixSeconds|AuthorizationTime|Timestamp|Hash|Uuid)$/
const isText = (schema: Schema) =>
  !('enum' in schema || 'const' in schema || numerals.test(schema.title ?? '')) &&
  (schema.type === 'string' || 'patternProperties' in schema || !(schema.type || schema.anyOf))

const fields = [
  ...topics.map(({ subject, schema }) => ({ subject, schemas: [schema] })),
  ...questions.map(({ subject, request }) => ({ subject, schemas: [request] })),
].flatMap(({ subject, schemas }) =>
  schemas.flatMap((schema) => textsIn(schema as Schema)).map((name) => `${subject}:${name}`),
)
/** Also returns the names of numbers and times, which may be plain. */
const namesIn = ({ properties = {}, items, anyOf = [] }: Schema): string[] => [
  ...Object.entries(properties).flatMap(([name, one]) => [name, ...namesIn(one)]),
  ...[...(items ? [items] : []), ...anyOf].flatMap(namesIn),
]
const allFields = [
  ...topics.map(({ subject, schema }) => [subject, schema] as const),
  ...questions.map(({ subject, request }) => [subject, request] as const),
].flatMap(([subject, schema]) => namesIn(schema as Schema).map((name) => `${subject}:${name}`))
const places = [...new Set([...columns, ...fields])]
const isKnown = (place: string) => isPlain(place) || personalData.some((entry) => holds(entry, place))

describe('the table of personal data', () => {
  test('the table of personal data has every column and message field that can carry text about a person', () => {
    expect(places.filter((place) => !isKnown(place))).toEqual([])
  })
  test.each([
    'payments.payments.payer_name',
    'payments.payments.phone_number',
    'gateway.users.birthday',
    'payouts.payouts.account',
    'payouts.payouts.holder',
    'gateway.users.address',
    'payments.refunds.data',
    'gateway.users.identity',
    'payouts.payouts.note',
    'payouts.paid:account',
    'identity.decided:name',
    'payments.paid:data',
  ])('the table of personal data would miss %s if it were added', (place) => {
    expect(isKnown(place)).toBe(false)
  })
  test.each([
    ['a text', Type.Object({ email: Type.String() })],
    ['a text or null', Type.Object({ email: Type.Union([Type.String(), Type.Null()]) })],
    ['an optional text', Type.Object({ email: Type.Optional(Type.String()) })],
    ['a value of any type', Type.Object({ email: Type.Unknown() })],
    ['an object with any fields', Type.Object({ email: Type.Record(Type.String(), Type.Any()) })],
    ['a text of a listed object', Type.Array(Type.Object({ email: Type.String() }))],
  ])('the table of personal data finds %s in a message', (_, schema) => {
    expect(textsIn(schema as Schema)).toContain('email')
  })
  test('the table of personal data names only places that exist', () => {
    const missing = personalData.flatMap(({ places: named }) =>
      named.filter((one) => !places.some((place) => holds({ places: [one] } as never, place))),
    )
    expect(missing).toEqual([])
  })
  test('takes no name or place for plain that does not exist', () => {
    const everything = [...columns, ...allFields]
    const used = new Set(everything.map((place) => place.split(/[.:](?=[^.:]*$)/)[1]))
    expect(plainNames.split(' ').filter((name) => !used.has(name))).toEqual([])
    expect(plainPlaces.filter((one) => !everything.some((place) => holdsAny([one], place)))).toEqual([])
  })
  test('knows where bank accounts are', () => {
    const accounts = personalData.find(({ what }) => what.startsWith('bank account'))!
    expect(places.filter((place) => holds(accounts, place)).sort()).toEqual([
      'operations.console.find:digits',
      'payouts.account.check:accountHolderName',
      'payouts.account.check:accountNumber',
      'payouts.account.check:channelCode',
      'payouts.account.ending:digits',
      'payouts.account.find:accountNumber',
      'payouts.account.find:channelCode',
      'payouts.account.refuse:accountNumber',
      'payouts.account.refuse:channelCode',
      'payouts.cashout.create:accountHolderName',
      'payouts.cashout.create:accountNumber',
      'payouts.cashout.create:channelCode',
      'payouts.payouts.bank_details',
      'payouts.payouts.channel_code',
    ])
  })
})
