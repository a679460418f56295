import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { migrateAll } from '#infra/migrations/migrate'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
let payments: Sql
let owner: Sql
beforeAll(async () => {
  server = await startScratchPostgres('empty')
  const options = { adminUrl: server.adminUrl, passwords: server.passwords }
  await migrateAll(options)
  await migrateAll(options) // A later run leaves the guards as they are.
  const open = (url: string) => postgres(url, { max: 1, onnotice: () => {} })
  payments = open(server.urlAs('payments', server.passwords.payments))
  owner = open(server.adminUrl)
})
afterAll(async () => {
  await Promise.all([payments, owner].map((sql) => sql?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

type JournalLine = [account: string, asset: string, amount: string]
let postings = 0
/** Writes all lines in one statement, as services do. */
async function insert(lines: readonly (JournalLine | [...JournalLine, string | null])[], reverses?: string) {
  const posting = `test/${++postings}`
  const rows = lines.map(([account, asset, amount, other = reverses ?? null], line) => ({
    posting,
    line,
    event: 'test',
    item: 'test',
    account,
    asset,
    amount,
    reverses: other,
  }))
  await payments`insert into payments.journal ${payments(rows)}`
  return posting
}
const post = (...lines: JournalLine[]) => insert(lines)

const postReversal = (reverses: string, lines: (JournalLine | [...JournalLine, string | null])[]) =>
  insert(lines, reverses)
const credit: JournalLine[] = [
  ['treasury', 'AUSD', '-7'],
  ['collateral', 'AUSD', '7'],
]
const back: JournalLine[] = [
  ['treasury', 'AUSD', '7'],
  ['collateral', 'AUSD', '-7'],
]

describe('a posting that reverses another', () => {
  test('a posting that reverses another is its exact negation, and the only one', async () => {
    const posting = await post(...credit)
    const reversal = await postReversal(posting, back)
    await expect(postReversal(posting, back)).rejects.toThrow('journal_reversed')
    await postReversal(reversal, credit)
  })

  // guard: a posting is reversed by its exact negation
  test.each<[string, (JournalLine | [...JournalLine, null])[]]>([
    [
      'less',
      [
        ['treasury', 'AUSD', '6'],
        ['collateral', 'AUSD', '-6'],
      ],
    ],
    ['the same, and not its negation', credit],
    [
      'other accounts',
      [
        ['treasury', 'AUSD', '7'],
        ['promises', 'AUSD', '-7'],
      ],
    ],
    ['a part of it', []],
    ['more', [...back, ['promises', 'AUSD', '1'], ['clawback', 'AUSD', '-1']]],
    ['lines that take nothing back', [...back, ['promises', 'AUSD', '1', null], ['clawback', 'AUSD', '-1', null]]],
  ])('a posting that reverses another is refused when it posts %s', async (what, lines) => {
    const posting = await post(...credit, ['promises', 'AUSD', '3'], ['clawback', 'AUSD', '-3'])
    const rest: JournalLine[] = [
      ['promises', 'AUSD', '-3'],
      ['clawback', 'AUSD', '3'],
    ]
    const whole = what === 'a part of it' ? back : [...lines.slice(0, 2), ...rest, ...lines.slice(2)]
    await expect(postReversal(posting, whole)).rejects.toThrow('is not the exact reversal')
  })

  test('a posting that reverses another is refused if the reversed posting does not exist', async () => {
    await expect(postReversal('test/none', back)).rejects.toThrow('is not the exact reversal')
  })

  test('a posting that reverses another accepts no more lines later', async () => {
    const reversal = await postReversal(await post(...credit), back)
    const more = payments`insert into payments.journal
      (posting, line, event, item, account, asset, amount)
      values (${reversal}, 2, 'test', 'test', 'promises', 'AUSD', 1),
        (${reversal}, 3, 'test', 'test', 'clawback', 'AUSD', -1)`
    await expect(Promise.resolve(more)).rejects.toThrow('is not the exact reversal')
  })
})

describe('a journal', () => {
  test('a journal accepts postings that sum to 0 in each asset, also several at once', async () => {
    await post(['treasury', 'AUSD', '-7'], ['collateral', 'AUSD', '7'])
    const rows = [1, 2].flatMap((which) =>
      credit.map(([account, asset, amount], line) => ({
        posting: `twin/${which}`,
        line,
        event: 'test',
        item: 'test',
        account,
        asset,
        amount,
      })),
    )
    await payments`insert into payments.journal ${payments(rows)}`
    const wrong = rows.map((row, line) => ({ ...row, line, posting: `again/${line % 2}` }))
    await expect(Promise.resolve(payments`insert into payments.journal ${payments(wrong)}`)).rejects.toThrow(
      'does not sum to 0 in every asset',
    )
  })

  test.each<[string, JournalLine[]]>([
    ['one line alone', [['treasury', 'AUSD', '1']]],
    // guard: a posting sums to 0 in every asset
    [
      'assets that sum to 0 only together',
      [
        ['exchange', 'AUSD', '1'],
        ['exchange', 'IDR', '-1'],
      ],
    ],
    [
      'one line too many',
      [
        ['treasury', 'AUSD', '1'],
        ['promises', 'AUSD', '-1'],
        ['clawback', 'AUSD', '1'],
      ],
    ],
  ])('a journal refuses %s', async (_, lines) => {
    await expect(post(...lines)).rejects.toThrow('does not sum to 0 in every asset')
  })

  test('a journal refuses a line that is added to a posting later', async () => {
    const posting = await post(['treasury', 'AUSD', '-1'], ['collateral', 'AUSD', '1'])
    const more = payments`insert into payments.journal (posting, line, event, item, account, asset, amount)
      values (${posting}, 2, 'test', 'test', 'treasury', 'AUSD', 1)`
    await expect(Promise.resolve(more)).rejects.toThrow('does not sum to 0 in every asset')
  })

  test.each<[string, JournalLine]>([
    ['an account that is not in the chart', ['pocket', 'AUSD', '1']],
    ['an unknown asset', ['treasury', 'EUR', '1']],
    ['a line with amount 0', ['treasury', 'AUSD', '0']],
  ])('a journal refuses %s', async (_, line) => {
    await expect(post(line)).rejects.toThrow('violates check constraint')
  })

  test.each([
    // guard: a line of a journal is never changed, not even by its owner
    // guard: a line of a journal is never changed by its service
    ['changed', 'update payments.journal set amount = 8'],
    ['removed', 'delete from payments.journal'],
    ['emptied', 'truncate payments.journal'],
  ])('security: a line of a journal is never %s, neither by its service nor by its owner', async (_, statement) => {
    await post(...credit)
    await expect(Promise.resolve(payments.unsafe(statement))).rejects.toThrow('permission denied')
    await expect(Promise.resolve(owner.unsafe(statement))).rejects.toThrow('reverse the posting')
  })
})
