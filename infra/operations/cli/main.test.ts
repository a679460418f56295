import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alerts } from '#infra/operations/alerts/catalogue'
import { verbs } from '#infra/operations/cli/main'

const run = async (...words: string[]) => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), ...words], {
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const printed = await new Response(child.stdout).text()
  return { code: await child.exited, printed }
}

test.each([
  ['no verb', []],
  ['a word that is no verb', ['constructor']],
])('ops with %s prints the usage and exits with 2', async (_, words) => {
  const { code, printed } = await run(...words)
  expect(code).toBe(2)
  expect(printed).toMatch(/^usage: bun run ops <command>\n {2}status /)
})

async function saidBy(name: string, ...words: string[]) {
  const lines: string[] = []
  const code = await verbs.get(name)!.run(words, (text) => lines.push(text))
  return { code, said: lines.join('\n') }
}

describe('wrong usage prints the usage and the error', () => {
  const transfer = `0x${'1'.repeat(64)}:1`
  test.each([
    [['pause', 'topups'], '--reason is required'],
    [['pause', 'topups', '--reason', ' '], '--reason is required'],
    [['pause', 'topups', '--reason', 'a\nb'], '--reason must be one line without control characters'],
    [['pause', 'topups', '--reason', 'a\u202eb'], '--reason must be one line without control characters'],
    [['pause', '--reason', 'why'], 'expected 1 argument, got 0'],
    [
      ['pause', 'everything', '--reason', 'why'],
      'cannot pause everything; choose one of topups, topups-id, topups-my, payouts, relaying',
    ],
    [['commands', 'a', 'b'], 'expected 0 to 1 arguments, got 2'],
    [['status', '--copy', '2'], "Unknown option '--copy'"],
    [['status', '--copies', 'two'], '--copies must be from 1 to 999'],
    [['growth', '--free', 'much'], '--per-day and --free must be above 0'],
    [['review', 'resolve', 'pay_1', 'keep', '--reason', 'why'], 'unknown decision: keep'],
    [['review', 'decide'], 'unknown command: decide'],
    [['wallets', 'clear', 'sari', '--reason', 'why'], 'expected a wallet: 0x and 40 hex digits'],
    [
      ['accounts', 'refuse', 'ID_BCA', '12x4567890', '--reason', 'why'],
      /^name an account by a bank code [^1]*6 to 20 digits/,
    ],
    [['unexplained', 'return', '0x12', '--reason', 'why'], /^0x12 is not a <transaction>:<log>/],
    [['unexplained', 'accept', transfer], '--reason is required'],
    [['rates', 'release', 'usd-idr', '2999-01-01', '--reason', 'why'], '2999-01-01 has not begun'],
    [['rates', 'release', 'usd-idr', '2026-02-30', '--reason', 'why'], '2026-02-30 is not a day'],
    [['report'], '--day is required, such as 2026-11-24'],
    [['report', '--day', 'yesterday'], '--day yesterday is not a day of the calendar, such as 2026-11-24'],
    [['report', '--day', '2026-02-30'], '--day 2026-02-30 is not a day of the calendar, such as 2026-11-24'],
    [['persons', 'exchanges', `0x${'1'.repeat(40)}`], '--year is required, such as 2026'],
    [['persons', 'exchanges', `0x${'1'.repeat(40)}`, '--year', '26'], '--year 26 is not a year, such as 2026'],
    [['persons', 'exchanges', 'sari', '--year', '2026'], 'expected a wallet: 0x and 40 hex digits'],
    [['find', '--amount', '50000'], '--amount and --currency belong together'],
    [['find', '--amount', '50.5', '--currency', 'IDR'], '--amount 50.5 is not an amount in IDR, such as 50000'],
    [['find', '--amount', '80.000', '--currency', 'IDR'], '--amount 80.000 is not an amount in IDR, such as 50000'],
    [
      ['find', '--state', 'cancelled'],
      /^unknown state cancelled; choose one of opening, awaiting_payment, .*, settled/,
    ],
    [['find', '--currency', 'USD'], 'unknown currency USD; choose one of AUSD, IDR, MYR'],
    [['find', '--from', '2026-11-24T02:00'], /^2026-11-24T02:00 is not a time, such as /],
    [['find', '--from', '2026-02-30T02:00Z'], /^2026-02-30T02:00Z is not a time, such as /],
    [['find', '--from', '2026-11-25', '--to', '2026-11-24'], '--from must be before --to'],
    [['find', '--kind', 'refund'], 'unknown kind refund; choose one of topup, settlement, cashout, send'],
    [['find', '--kind', 'send'], 'sends are found with --wallet only'],
    [['find', '--ended', '--affected'], 'choose one of --ended and --affected'],
    [['find', '--receipt', ' '], '--receipt is empty'],
    [['find', '--channel', ''], '--channel is empty'],
    [['find', '--receipt', '521802\u202e141667'], '--receipt contains a control character'],
    [['find', '--receipt', '5'.repeat(65)], 'a receipt has at most 64 characters'],
    [['find', '--from', '2999-01-01'], '--from is in the future'],
    [['find', '--from', '0000-01-01'], /^0000-01-01 is not a time, such as /],
    [['find', '--to', '9999-12-31T23:59-12:00'], /^9999-12-31T23:59-12:00 is not a time, such as /],
    [
      ['find', '--kind', 'topup', '--state', 'taking'],
      /^unknown state taking of topup; choose one of opening, .*, repaid$/,
    ],
    [['find', '--receipt', '1', '--state', 'taking'], /^unknown state taking of topup, settlement; choose one of /],
    [['find', '--users', '--csv'], 'choose one of --users and --csv'],
    [['find', '--csv', '--json'], 'choose one of --csv and --json'],
    [['reconcile', '--csv', '--json'], 'choose one of --csv and --json'],
    [['events', 'list', '--from', '2999-01-01'], '--from is in the future'],
    [['events', 'list', '--from', '2026-11-25', '--to', '2026-11-24'], '--from must be before --to'],
    [['report', '--day', '0001-01-01'], '--day 0001-01-01 is not a day of the calendar, such as 2026-11-24'],
    [['reconcile', 'all'], 'expected 0 arguments, got 1'],
    [['reconcile', 'explain', 'x'], 'expected the number of one break'],
    [['reconcile', 'explain', '#2', '--owner', 'sari', '--reason', 'why'], '--until is required'],
    [
      ['reconcile', 'explain', '#2', '--owner', 'sari', '--reason', 'why', '--until', '2026-01-01'],
      /^--until 2026-01-01 is not a time in the future/,
    ],
    ...['2999-02-30', '99999', 'Dec 2999', '2999-12-31 10:00'].map((until): [string[], RegExp] => [
      ['reconcile', 'explain', '#2', '--owner', 'sari', '--reason', 'why', '--until', until],
      new RegExp(`^--until ${until} is not a time in the future, such as 2030-12-31 or 2030-12-31T02:00Z$`),
    ]),
  ] as [string[], string | RegExp][])('ops %p fails with %p', async ([name = '', ...words], wrong) => {
    const { code, said } = await saidBy(name, ...words)
    expect(code).toBe(2)
    expect(said).toMatch(/^(usage: bun run ops |subcommands:)/)
    expect(said.split('\nerror: ')[1] ?? '').toMatch(wrong)
  })

  test.each([
    ['pause', '--help'],
    ['review', '-h'],
    ['review', 'show', '--help'],
    ['reconcile', '--help'],
    ['reconcile', 'explain', '--help'],
    ['unexplained', 'accept', '--help'],
  ] as [string, ...string[]][])('ops %s %s prints the usage without an error', async (name, ...words) => {
    const { code, said } = await saidBy(name, ...words)
    expect(code).toBe(0)
    expect(said).toMatch(/^(usage: bun run ops |subcommands:)/)
    expect(said).not.toContain('error: ')
  })

  test('ops --help prints the usage without an error', async () => {
    const { code, printed } = await run('--help')
    expect(code).toBe(0)
    expect(printed).toStartWith('usage: bun run ops <command>')
  })
})

test('the first command of every alert exists', () => {
  const commands = alerts.flatMap(({ command }) => command ?? [])
  expect(commands.length).toBeGreaterThan(30)
  const wrong = commands.filter((command) => {
    const [program = '', name = '', next] = command.split(' ')
    if (['dc', 'bus', 'look'].includes(program)) return false
    if (program !== 'ops') return true
    const verb = verbs.get(name)
    return !verb || (verb.among && next !== undefined && !Object.hasOwn(verb.among, next))
  })
  expect(wrong).toEqual([])
})

/** Every command by its words, also a command below another. */
const commands = new Map(
  [...verbs].flatMap(([name, verb]) => [
    [name, verb] as const,
    ...Object.entries(verb.among ?? {}).map(([next, one]) => [`${name} ${next}`, one] as const),
  ]),
)

test('operations/README.md lists who carries out each command that changes something, and no other command', async () => {
  const text = readFileSync(join(import.meta.dir, '../README.md'), 'utf8')
  const [, changes = ''] = /^## Changes$(.*?)^Each needs `--reason`/ms.exec(text)!
  const listed = [...changes.matchAll(/^- (.*?): /gm)].flatMap(([, names = '']) => {
    const words = [...names.matchAll(/`([^`]+)`/g)].map(([, one]) => one!)
    const [group] = words[0]!.split(' ')
    return words.map((one) => (commands.has(one) ? one : `${group} ${one}`))
  })
  expect(listed.sort()).toEqual(await changingCommands())
})

test('operations/README.md says what to look at before each of them, and what undoes it', async () => {
  const text = readFileSync(join(import.meta.dir, '../README.md'), 'utf8')
  const [, section = ''] = /^### Look first, and undo$(.*?)^## /ms.exec(text)!
  const rows = [...section.matchAll(/^\| (`.*?) \| (.+?) \| (.+?) \|$/gm)]
  const listed = rows.flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, one]) => one!))
  expect(listed.sort()).toEqual(await changingCommands())
})

async function changingCommands(): Promise<string[]> {
  const changing: string[] = []
  for (const [name, { among, run }] of commands) {
    const lines: string[] = []
    await run(['--help'], (line) => lines.push(line))
    if (!among && lines.join('\n').includes('--reason <why>')) changing.push(name)
  }
  return changing.sort()
}

test('a command with others below it names all of them', () => {
  for (const [name, { among, does }] of verbs)
    for (const next of Object.keys(among ?? {})) expect(`${name}: ${does}`).toMatch(new RegExp(`\\b${next}\\b`))
})
