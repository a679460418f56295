import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { verbs } from '#infra/operations/cli/main'
import type { Lifecycle } from '#platform/lifecycle'
import { activityStatuses } from '#shared/messages/activity'
import { questions, topics } from '#shared/messages/catalogue'
import { relayFailed, relayKinds, relaySettled } from '#shared/messages/relay'
import { settlementLifecycle, topupLifecycle } from '../../services/payments/payment'
import { lifecycle as cashoutLifecycle } from '../../services/payouts/cashout'

const read = (path: string) => readFileSync(join(repositoryDir, path), 'utf8')
const architecture = read('services/README.md')

/** Returns the subjects in backticks of one stream. A name without a full stop continues the subject before it. */
function subjectsNamed(stream: string): string[] {
  const [, text = ''] = new RegExp(`^- \`${stream}\`: (.*?)(?=^- |^$)`, 'ms').exec(architecture)!
  let prefix = ''
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    if (!name.includes('.')) return `${prefix}.${name}`
    if (!name.startsWith('.')) prefix = name.slice(0, name.lastIndexOf('.'))
    return name.startsWith('.') ? `${prefix}${name}` : name
  })
}
const subjectsOf = (stream: string) => topics.filter((topic) => topic.stream === stream).map(({ subject }) => subject)

describe('the subjects in services/README.md', () => {
  test('are those of every command', () => {
    expect(subjectsNamed('COMMANDS').sort()).toEqual(subjectsOf('COMMANDS').sort())
  })

  test('are those of every event', () => {
    const named = subjectsNamed('EVENTS').flatMap((name) =>
      name.includes('<kind>') ? relayKinds.map((kind) => name.replace('<kind>', kind)) : [name],
    )
    const outcomes = relayKinds.flatMap((kind) => [relaySettled(kind), relayFailed(kind)])
    expect(named).toEqual(expect.arrayContaining(outcomes.map(({ subject }) => subject)))
    expect(named.sort()).toEqual(subjectsOf('EVENTS').sort())
  })

  test('are those of every webhook', () => {
    const named = subjectsNamed('WEBHOOKS').map((name) => name.replace(/<.*/, '>'))
    expect(named.sort()).toEqual(subjectsOf('WEBHOOKS').sort())
  })
})

/** Every service with rows or messages answers these requests in the same way. */
const isCommon = (subject: string) => /\.(?:dead-letter|person)\./.test(subject)

test.each(['pricing', 'payments', 'payouts'])(
  'the README of %s lists every request of the service, and no other',
  (owner) => {
    const [, text = ''] = /^## Requests$(.*?)^## /ms.exec(read(`services/${owner}/README.md`))!
    const named = [...text.matchAll(/`((?:\w+)?(?:\.[a-z-]+)+)`/g)].map(([, name = '']) =>
      name.startsWith('.') ? `${owner}${name}` : name,
    )
    const own = questions.filter((question) => question.owner === owner).map(({ subject }) => subject)
    const about = new Set(named.filter((name) => name.startsWith(`${owner}.`)))
    expect([...about].sort()).toEqual(own.filter((subject) => !isCommon(subject)).sort())
  },
)

test('services/README.md explains every pause, and no other', async () => {
  const lines: string[] = []
  await verbs.get('pause')!.run(['--help'], (line) => lines.push(line))
  const [, names = ''] = /pause (\S+) --reason/.exec(lines.join('\n'))!
  const explained = [...architecture.matchAll(/^- `([\w-]+)` refuses/gm)].map(([, name]) => name!)
  expect(explained.sort()).toEqual(names.split('|').sort())
})

const stepsOf = (...lifecycles: readonly Lifecycle<string>[]): string[] => [
  ...new Set(
    lifecycles.flatMap((one) => Object.entries(one).flatMap(([from, next]) => next.map((to) => `${from} --> ${to}`))),
  ),
]
const drawnAs = (name: string): string[] => {
  const [, text = ''] = new RegExp(`as ${name} \\{\\n(.*?)\\n  \\}`, 's').exec(architecture)!
  return [...text.matchAll(/^\s+(\w+ --> \w+)/gm)].map(([, step]) => step!)
}

describe('the states drawn in services/README.md', () => {
  test('have every step of a cash-out, but those of a row from a backup', () => {
    const left = ['opening --> returning', 'expired --> returning']
    expect([...drawnAs('cashout'), ...left].sort()).toEqual(stepsOf(cashoutLifecycle).sort())
  })

  test('have every step of a payment, but to review, back from refunding, and several at once', () => {
    const left = [
      'opening --> expired',
      'opening --> replaced',
      'opening --> paid',
      'opening --> refunded',
      'awaiting_payment --> refunded',
      'expired --> refunded',
      'replaced --> refunded',
      'paid --> revoking',
      'revoking --> revoking',
      'refunding --> credited',
      'refunding --> repaid',
      'refunding --> revoked',
    ]
    const drawn = drawnAs('payment')
    const all = stepsOf(topupLifecycle, settlementLifecycle)
    const toReview = all.filter((step) => step.endsWith('--> review') && !drawn.includes(step))
    expect([...drawn, ...left, ...toReview].sort()).toEqual(all.sort())
  })
})

test.each(Object.entries(activityStatuses))(
  'the guide lists every status of an item of kind %s, and no other',
  (kind, all) => {
    const rows = read('services/gateway/guide/pages/wait.md').split('\n')
    const textOf = (name: string) => rows.find((row) => row.startsWith(`| ${name} |`))!
    // "as above" stands for the first cell of a top-up.
    const [, , above = ''] = textOf('topup').split('|')
    const text = textOf(kind).replace('as above', above)
    const named = [...text.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
    expect([...new Set(named)].sort()).toEqual([...all].sort())
  },
)
