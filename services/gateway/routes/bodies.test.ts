import { describe, expect, test } from 'bun:test'
import { schemaReader } from '#platform/schema'
import { Bank } from '#shared/messages/fields'
import { type BodyPath, bank, goodBodies, spoilt } from '../test-support/bodies'
import { errorOf, fixtureOf, okay } from '../test-support/fixture'
import { ana, headerOf } from '../test-support/wallets'

const fixture = await fixtureOf({
  'pricing.quote.create': okay({ quote: true }),
  'payments.topup.create': okay({ topup: true }),
  'payments.settlement.create': okay({ settlement: true }),
  'payouts.cashout.create': okay({ cashout: true }),
  'payouts.account.check': okay({ verdict: 'match' }),
  'chain.send.create': okay({ send: true }),
})
const authorization = await headerOf(ana)
const post = (path: string, body: unknown) => fixture.call('POST', path, { body, headers: { authorization } })

const digits = 'must be a string of 1 to 30 digits, in the smallest unit'
const address = 'must be an address: 0x and 40 hex digits'
const seconds = 'must be unix seconds as a string of digits'
const pair = 'pair must be USD/IDR or USD/MYR'
const country = 'country must be an ISO 3166-1 alpha-2 code in upper case'
const amounts = [50_000, -1, null, '', '-1', '+1', '1e5', '1.5', ' 1', '1 ', '1\n', '１', '9'.repeat(100), {}, []]

const nameRule =
  "bank.accountHolderName must be 1 to 100 Latin letters, digits, spaces or . , ' - / & @ ( ), with at least one letter"

describe('the gateway refuses a body with one fault and names it:', () => {
  test.each<[BodyPath, string, unknown, string]>([
    ['/quote', 'pair', undefined, 'pair is missing'],
    ['/quote', 'more', 1, 'more is not a known field'],
    ...[1, null, 'usd/idr', 'USD/SGD', 'constructor', ' USD/IDR', ['USD/IDR']].map(
      (value): [BodyPath, string, unknown, string] => ['/quote', 'pair', value, pair],
    ),
    ['/me/country', 'country', undefined, 'country is missing'],
    ...['my', 'XX', 'UK', 'MYS', '', 'MY ', 1, null, '__proto__'].map((value): [BodyPath, string, unknown, string] => [
      '/me/country',
      'country',
      value,
      country,
    ]),
    ['/topups', 'amount', undefined, 'amount is missing'],
    ...amounts.map((value): [BodyPath, string, unknown, string] => ['/topups', 'amount', value, `amount ${digits}`]),
    ['/topups', 'method', undefined, 'method is missing'],
    ['/topups', 'method', 'cash', 'method must be bank, card or qr'],
    ['/topups', 'method', 'toString', 'method must be bank, card or qr'],
    ['/topups', 'quoteId', undefined, 'quoteId is missing'],
    ['/topups', 'quoteId', 'not-a-uuid', 'quoteId must be a uuid'],
    ['/topups', 'quoteId', 7, 'quoteId must be a uuid'],
    ['/topups', 'wallet', ana.address, 'wallet is not a known field'],
    ['/topups', '__proto__', {}, '__proto__ is not a known field'],
    ['/settlements', 'quoteId', undefined, 'quoteId is missing'],
    [
      '/settlements',
      'amount',
      '1',
      'amount is not a known field: a settlement pays the whole debt; to pay a part, top up and call repayFromCollateral',
    ],
    ['/cashouts', 'authorization', undefined, 'authorization is missing'],
    ['/cashouts', 'authorization', '0x', 'authorization must be an object'],
    ['/cashouts', 'authorization.from', '0x12', `authorization.from ${address}`],
    ['/cashouts', 'authorization.to', 7, `authorization.to ${address}`],
    ['/cashouts', 'authorization.value', 5, `authorization.value ${digits}`],
    ['/cashouts', 'authorization.validAfter', 0, `authorization.validAfter ${seconds}`],
    ['/cashouts', 'authorization.validBefore', '-1', `authorization.validBefore ${seconds}`],
    ['/cashouts', 'authorization.nonce', '0x00', 'authorization.nonce must be 32 bytes: 0x and 64 hex digits'],
    [
      '/cashouts',
      'authorization.signature',
      '0x00',
      'authorization.signature must be a signature: 0x and at least 64 bytes of hex',
    ],
    ['/cashouts', 'authorization.v', 27, 'authorization.v is not a known field'],
    ['/cashouts', 'bank', undefined, 'bank is missing'],
    ['/cashouts', 'bank', [bank], 'bank must be an object'],
    ['/cashouts', 'bank.channelCode', 'BCA', 'bank.channelCode must be an Indonesian bank code such as ID_BCA'],
    ['/cashouts', 'bank.accountNumber', '12345', 'bank.accountNumber must be 6 to 20 digits'],
    ['/cashouts', 'bank.accountNumber', '1'.repeat(21), 'bank.accountNumber must be 6 to 20 digits'],
    ['/cashouts', 'bank.accountNumber', 1234567890, 'bank.accountNumber must be 6 to 20 digits'],
    ['/cashouts', 'bank.accountHolderName', '   ', nameRule],
    ['/cashouts', 'bank.accountHolderName', 'x'.repeat(101), nameRule],
    ['/cashouts', 'bank.swift', 'X', 'bank.swift is not a known field'],
    ['/sends', 'authorization', undefined, 'authorization is missing'],
    ['/sends', 'quoteId', 'x', 'quoteId is not a known field'],
  ])('POST %s with %s = %p', async (path, field, value, message) => {
    const before = fixture.asked.length
    const response = await post(path, spoilt(goodBodies[path], field, value))
    expect([response.status, await errorOf(response)]).toEqual([400, message])
    expect(fixture.asked.length).toBe(before)
  })
})

describe('the account holder name of a cash-out', () => {
  const named = (name: unknown) => post('/cashouts', spoilt(goodBodies['/cashouts'], 'bank.accountHolderName', name))
  test.each([
    'Sari Dewi',
    "Nur'aini D\u2019Souza",
    '\u2018Abdul Ma\u2018ruf', // The name has an apostrophe as telephones write it, and an ayn of Arabic transliteration.
    'Qur\u02bcan \u02bfAli',
    'PT. Maju & Jaya (Persero), Tbk. / cab-2',
    'Ñoño José Müller',
    'Nono\u0303 e\u0301',
    '2 Fast',
    'AMINAH @ SITI', // Malaysian identity cards join two names with an @.
    '  Sari Dewi\t',
    '\nSari Dewi\n',
    `${' '.repeat(60_000)}Sari Dewi`,
    'Nguye\u0302\u0303n',
    'x'.repeat(100),
  ])('may be %j', async (name) => {
    expect((await named(name)).status).toBe(200)
  })
  // A quadratic parser would take an hour.
  test.each([
    ['blanks before it', `${' '.repeat(500_000)}Sari=`],
    ['blanks after it', `Sari${' '.repeat(500_000)}=`],
    ['blanks in it', `${'Sari '.repeat(100_000)}=`],
    ['letters', `${'x'.repeat(500_000)}=`],
    ['marks', `${'\u0301'.repeat(500_000)}=`],
  ])('security: is parsed in linear time with 500,000 %s', (_, name) => {
    const bank = { channelCode: 'ID_BCA', accountNumber: '1234567890', accountHolderName: name }
    expect(schemaReader(Bank)(bank)).toHaveProperty('fault')
  })
  test.each([
    ['Chinese letters', '李小龍'],
    ['Arabic letters', 'محمد'],
    ['Javanese letters', 'Siti ꦱꦸꦂꦠꦶ'],
    ['Tamil letters', 'முருகன் ராஜா'],
    ['Cyrillic letters that look Latin', '\u0405\u0410R\u0406'],
    ['Latin letters of full width', '\uff33\uff21\uff32\uff29'],
    ['digits of full width', 'Toko １２３'],
    ['marks of another script', 'Sari\u0e31'],
    ['an at sign before it', '@SUM(A1)'],
    ['a NUL', 'Sari\0Dewi'],
    ['a tab', 'Sari\tDewi'],
    ['a line break', 'Sari\nDewi'],
    ['an escape character', 'Sari\u001bDewi'],
    ['a right-to-left override', 'Sari \u202eiweD'],
    ['a right-to-left mark', 'Sari\u200fDewi'],
    ['a direction isolate', 'Sari\u2066Dewi'],
    ['a zero-width space', 'Sari\u200bDewi'],
    ['a byte order mark within', 'Sari\ufeffDewi'],
    ['a lone surrogate', 'Sari\ud800Dewi'],
    ['a letter beyond the Basic Multilingual Plane', `Sari ${'\u{1d400}'}`],
    ['an emoji', 'Sari 😀'],
    ['a no-break space', 'Sari\u00a0Dewi'],
    ['a letter that shows nothing', 'Sari\u3164Dewi'],
    ['only letters that show nothing', '\u3164\u115f\uffa0'],
    ['a variation selector', 'Sari\ufe0f'],
    ['a grapheme joiner', 'Sari\u034fDewi'],
    ['five marks on a letter', `Sari${'\u0301'.repeat(5)}`],
    ['digits alone', '1234567890'],
    ['signs alone', '.-.'],
    ['a formula of a spreadsheet', "=cmd|'/c calc'!A1"],
    ['a formula that begins with a minus', '-Sari'],
    ['markup', '<b>Sari</b>'],
    ['101 characters', 'x'.repeat(101)],
    ['nothing', ''],
    ['a number', 7],
  ])('is refused with %s, before payouts is asked', async (_, name) => {
    const before = fixture.asked.length
    const response = await named(name)
    expect([response.status, await errorOf(response)]).toEqual([400, nameRule])
    expect(fixture.asked.length).toBe(before)
  })
})

describe.each(Object.keys(goodBodies) as BodyPath[])('POST %s', (path) => {
  const sent = (raw: BodyInit | undefined, headers: Record<string, string> = {}) =>
    fixture.call('POST', path, {
      ...(raw === undefined ? {} : { raw }),
      headers: { authorization, ...headers },
    })
  const json = { 'content-type': 'application/json' }
  const notJson = 'the body is not valid JSON'
  const noObject = 'the body must be a JSON object'
  const wrongType = 'Content-Type must be application/json'
  const good = JSON.stringify(goodBodies[path])
  test.each<[string, BodyInit | undefined, Record<string, string>, number, string]>([
    ['no body', undefined, {}, 400, noObject],
    ['no body but a type', undefined, json, 400, noObject],
    ['an empty body', '', json, 400, noObject],
    ['a broken body', '{"a":', json, 400, notJson],
    ['a body that is no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), json, 400, notJson],
    ['a list', '[]', json, 400, noObject],
    ['null', 'null', json, 400, noObject],
    ['a string', '"x"', json, 400, noObject],
    ['another content type', good, { 'content-type': 'text/plain' }, 400, wrongType],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 400, wrongType],
    ['another charset', good, { 'content-type': 'application/json; charset=utf-16' }, 400, wrongType],
    ['a very deep body', '['.repeat(60_000), json, 400, notJson],
    ['65 KiB', `{"a":"${'x'.repeat(65 * 1024)}"}`, json, 413, 'the body is larger than 64 KiB'],
  ])('with %s', async (_, raw, headers, status, message) => {
    const response = await sent(raw, headers)
    expect([response.status, await errorOf(response)]).toEqual([status, message])
  })
  test('refuses 65 KiB in chunks', async () => {
    const chunk = new TextEncoder().encode('x'.repeat(13 * 1024))
    let left = 5
    const pull = (to: ReadableStreamDefaultController) => (left-- > 0 ? to.enqueue(chunk) : to.close())
    const response = await sent(new ReadableStream({ pull }), json)
    expect([response.status, await errorOf(response)]).toEqual([413, 'the body is larger than 64 KiB'])
  })
  test('accepts a valid body', async () => {
    const response = await sent(good, { 'content-type': 'application/json; charset=UTF-8' })
    expect(response.status).toBe(200)
  })
})
