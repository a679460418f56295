import { mainnetValues } from '#infra/configuration/mainnet'
import { pilotValues } from '#infra/configuration/pilot'
import { accesses } from '#infra/operations/alerts/alert'
import { alerts, instructionOf, type NamedAlert } from '#infra/operations/alerts/catalogue'
import { limitedStates } from '#infra/operations/alerts/state-limits'
import { rules } from '#infra/operations/books/rules/catalogue'
import { entries, periodOf, permanently } from '#infra/operations/pruning/kept'
import type { ChannelType } from '#infra/sandbox/channels/channel'
import { channelsOf } from '#infra/sandbox/channels/channels'
import { awaited } from './awaited'
import { eventFieldLines } from './event-fields'
import { personalData } from './personal-data'
import { questions } from './questions'

/** Markdown between `<!-- generated: NAME -->` and its end marker. */
export type Block = {
  /** Path from the repository root. */
  readonly page: string
  readonly name: string
  readonly lines: () => readonly string[]
}

export const blocks: readonly Block[] = [
  { page: 'infra/operations/runbook/stored-data.md', name: 'retention', lines: retention },
  { page: 'infra/operations/runbook/stored-data.md', name: 'personal-data', lines: personal },
  { page: 'infra/operations/runbook/alerts.md', name: 'access', lines: access },
  { page: 'infra/operations/runbook/alerts.md', name: 'alerts', lines: alertLines },
  { page: 'infra/operations/runbook/alerts.md', name: 'limits', lines: limits },
  { page: 'infra/operations/runbook/alerts.md', name: 'book-rules', lines: bookRules },
  { page: 'services/README.md', name: 'awaited', lines: waits },
  { page: 'infra/operations/runbook/deploy.md', name: 'mainnet', lines: mainnet },
  { page: 'infra/operations/runbook/first-live-day.md', name: 'pilot', lines: pilot },
  { page: 'infra/operations/README.md', name: 'questions', lines: operatorQuestions },
  { page: 'services/gateway/guide/pages/webhooks.md', name: 'channels', lines: channels },
  { page: 'services/gateway/guide/pages/events.md', name: 'events', lines: eventFieldLines },
]

const code = (text: string) => `\`${text}\``
const codes = (texts: readonly string[]) => texts.map(code).join(', ')

function settingLines(values: ReadonlyMap<string, string>): string[] {
  return ['```sh', ...[...values].map(([name, value]) => `${name}=${value}`), '```']
}

function mainnet(): string[] {
  return settingLines(mainnetValues)
}

function pilot(): string[] {
  return settingLines(pilotValues)
}

function retention(): string[] {
  const periods = entries.flatMap(({ names, period, why }) =>
    names.map((name) => ({ name, kept: periodOf(name, period), why })),
  )
  const limited = periods.filter(({ kept }) => kept !== permanently)
  const byPeriod = Map.groupBy(limited, ({ kept, why }) => JSON.stringify([kept, why]))
  return [...byPeriod.values()].map((same) => {
    const { kept, why } = same[0]!
    return `- ${codes(same.map(({ name }) => name))}: ${kept}. ${why}`
  })
}

function personal(): string[] {
  return personalData.map(({ what, places, why, how }) => `- **${what}** (${codes(places)}). ${why} ${how}`)
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

function access(): string[] {
  return Object.entries(accesses).map(([name, gives]) => `- **${name}**: ${gives}`)
}

function alertLines(): string[] {
  return [...Map.groupBy(alerts, ({ area }) => area)].flatMap(([area, own], at) => [
    ...(at === 0 ? [] : ['']),
    `### ${area}`,
    '',
    ...own.map(alertLine),
  ])
}

function alertLine(one: NamedAlert): string {
  const { name, severity, access: needed, log, ends } = one
  const logged = log && `log ${codes(log)}`
  const end = ends ? ` Ends when ${ends}.` : ''
  const about = [severity, needed.join(', '), logged].filter(Boolean).join('; ')
  return `- ${code(name)} (${about}): ${instructionOf(one)}${end}`
}

function limits(): string[] {
  const byAlarm = Map.groupBy(limitedStates, ({ service, alarm }) => `${service}: ${alarm}`)
  return [...byAlarm.values()].map((same) => {
    const { service, alarm, afterMs, steps } = same[0]!
    const states = codes(same.map(({ state }) => state))
    return `- ${service}, ${states}, ${durationText(afterMs)}: ${code(alarm)}. ${steps}`
  })
}

function bookRules(): string[] {
  return rules.map(({ name, says, graceMs, remedy }) => {
    const grace = graceMs === 0 ? '' : ` (${durationText(graceMs)})`
    return `- ${code(name)}${grace}: ${says}. ${sentence(remedy)}`
  })
}

function waits(): string[] {
  return [
    '| what waits | what it binds | what ends it | who can prolong it | alarms |',
    '|---|---|---|---|---|',
    ...awaited.map(
      ({ what, binds, ends, prolonged, alarms }) =>
        `| ${what} | ${binds} | ${ends} | ${prolonged} | ${codes(alarms)} |`,
    ),
  ]
}

function operatorQuestions(): string[] {
  return questions.map(({ question, words }) => `- ${question} ${code(`bun run ops ${words.join(' ')}`)}`)
}

const paidBy: Readonly<Record<ChannelType, string>> = {
  'BANK TRANSFER': 'virtual account',
  'ONLINE BANKING': 'online banking',
  'ONLINE BANKING FOR COMPANIES': 'online banking for companies',
  'QR CODE': 'QR code',
  CARDS: 'card',
  EWALLET: 'e-wallet',
  'OVER THE COUNTER': 'counter',
  PAYLATER: 'pay later',
}

/** `channels.test.ts` of the sandbox compares its channels with those that payments knows. */
function channels(): string[] {
  const cell = (country: keyof typeof channelsOf, type: string) => {
    const found = channelsOf[country].filter((channel) => channel.type === type)
    return found.length === 0 ? '' : ` ${codes(found.map(({ code }) => code))}`
  }
  return [
    '| paid by | in Indonesia | in Malaysia |',
    '|---|---|---|',
    ...Object.entries(paidBy).map(([type, words]) => `| ${words} |${cell('ID', type)} |${cell('MY', type)} |`),
  ]
}

const units = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Formats a duration in the largest unit that divides it: `8 days`, `2 h`, `10 min`. */
function durationText(ms: number): string {
  const [unit, size] = units.find(([, each]) => ms >= each && ms % each === 0) ?? ['ms', 1]
  const count = ms / size
  return `${count} ${unit === 'day' && count !== 1 ? 'days' : unit}`
}
