import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import postgres, { type Sql } from 'postgres'
import { migrateAll } from '#infra/migrations/migrate'
import { type ScratchPostgres, startScratchPostgres } from '#test/support/scratch-postgres'

let server: ScratchPostgres
let payments: Sql
let owner: Sql
beforeAll(async () => {
  server = await startScratchPostgres()
  const options = { adminUrl: server.adminUrl, passwords: server.passwords }
  await migrateAll(options)
  await migrateAll(options) // The guards are put there again each time.
  const open = (url: string) => postgres(url, { max: 1, onnotice: () => {} })
  payments = open(server.urlAs('payments', server.passwords.payments))
  owner = open(server.adminUrl)
}, 60_000)
afterAll(async () => {
  await Promise.all([payments, owner].map((sql) => sql?.end({ timeout: 1 })))
  await server?.[Symbol.asyncDispose]()
})

type Line = [account: string, asset: string, amount: string]
let postings = 0
const post = (...lines: Line[]) =>
  payments.begin(async (tx) => {
    const posting = `test/${++postings}`
    for (const [line, [account, asset, amount]] of lines.entries())
      await tx`insert into payments.journal (posting, line, event, item, account, asset, amount)
        values (${posting}, ${line}, 'test', 'test', ${account}, ${asset}, ${amount})`
    return posting
  })

describe('a journal', () => {
  test('takes a posting that comes to 0 in each asset, line by line', async () => {
    await post(['treasury', 'AUSD', '-7'], ['collateral', 'AUSD', '7'])
  })

  test.each<[string, Line[]]>([
    ['one line alone', [['treasury', 'AUSD', '1']]],
    [
      'assets that come to 0 only together',
      [
        ['exchange', 'AUSD', '1'],
        ['exchange', 'IDR', '-1'],
      ],
    ],
    [
      'a line too many',
      [
        ['treasury', 'AUSD', '1'],
        ['promises', 'AUSD', '-1'],
        ['clawback', 'AUSD', '1'],
      ],
    ],
  ])('refuses %s when it is committed', async (_, lines) => {
    await expect(post(...lines)).rejects.toThrow('does not come to 0 in every asset')
  })

  test('refuses a line that is added to a posting later', async () => {
    const posting = await post(['treasury', 'AUSD', '-1'], ['collateral', 'AUSD', '1'])
    const more = payments`insert into payments.journal (posting, line, event, item, account, asset, amount)
      values (${posting}, 2, 'test', 'test', 'treasury', 'AUSD', 1)`
    await expect(Promise.resolve(more)).rejects.toThrow('does not come to 0 in every asset')
  })

  test.each<[string, Line]>([
    ['an account that is not in the chart', ['pocket', 'AUSD', '1']],
    ['an asset nobody counts', ['treasury', 'EUR', '1']],
    ['a line of nothing', ['treasury', 'AUSD', '0']],
  ])('refuses %s', async (_, line) => {
    await expect(post(line)).rejects.toThrow('violates check constraint')
  })

  test.each([
    ['changed', 'update payments.journal set amount = 8'],
    ['removed', 'delete from payments.journal'],
    ['emptied', 'truncate payments.journal'],
  ])('security: is never %s, not by its service and not by its owner', async (_, statement) => {
    await expect(Promise.resolve(payments.unsafe(statement))).rejects.toThrow('permission denied')
    await expect(Promise.resolve(owner.unsafe(statement))).rejects.toThrow('reverse its posting')
  })
})
