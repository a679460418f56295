import type { AlarmLine } from '#platform/alarm-lines'
import type { Alert } from './alert'
import { books } from './kinds/books'
import { cashouts } from './kinds/cashouts'
import { chain } from './kinds/chain'
import { messages } from './kinds/messages'
import { operators } from './kinds/operators'
import { payments } from './kinds/payments'
import { providers } from './kinds/providers'
import { services } from './kinds/services'
import { users } from './kinds/users'

/** Every kind of alert, by area and name, in the order of the runbook. */
export const areas = { services, messages, payments, cashouts, books, providers, chain, users, operators } as const

type Areas = typeof areas
export type AlertName = { [A in keyof Areas]: keyof Areas[A] }[keyof Areas] & string
/** Names of the alerts that `ops status` reports. */
export type StatusAlert = {
  [A in keyof Areas]: {
    [N in keyof Areas[A]]: Areas[A][N] extends { readonly inStatus: true } ? N : never
  }[keyof Areas[A]]
}[keyof Areas] &
  string

export type NamedAlert = Alert & { readonly name: AlertName; readonly area: keyof Areas }

export const alerts: readonly NamedAlert[] = Object.entries(areas).flatMap(([area, rows]) =>
  Object.entries(rows as Readonly<Record<string, Alert>>).map(([name, row]) => ({
    name: name as AlertName,
    area: area as keyof Areas,
    ...row,
  })),
)

/** Log lines of all alerts. */
export const logged: readonly AlarmLine[] = alerts.flatMap(({ log }) => log ?? [])

const byName: ReadonlyMap<string, Alert> = new Map(alerts.map((one) => [one.name, one]))

export const alertNamed = (name: AlertName): Alert => byName.get(name)!

/** Returns what the alert means, what to do, and the first command, as Markdown of the runbook. */
export function instructionOf({ means, steps, command }: Alert, ops?: string): string {
  const first = command && `Begin with \`${commandText(command, ops)}\`.`
  return [means, steps, first].filter(Boolean).join(' ')
}

/** Returns the command as an operator types it: `oper …` in the shell of the runbook, `bun run ops …` on the local stack. */
export const commandText = (command: string, ops = 'oper infra/operations/cli/main.ts'): string =>
  command.replace(/^ops /, `${ops} `)
