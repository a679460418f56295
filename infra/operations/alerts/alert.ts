import type { AlarmLine } from '#platform/alarm-lines'

/** What an operator needs to carry out the steps of an alert, with what it gives. */
export const accesses = {
  host: 'a shell on the host of the containers: `dc`, `bus`, `look`, settings and restarts',
  ops: 'the logins of `ops`',
  owner: 'the owner of the tables, for SQL, `correct` and a restore',
  provider: "the payment provider's dashboard",
  identity: "the identity provider's dashboard",
  funds: 'AUSD, native coin or rupiah to send, and the key of the treasury',
  admin: '`ADMIN_KEY`, which grants roles and pauses the contract',
  code: 'a change of the code, and its deployment',
} as const
export type Access = keyof typeof accesses

/** Prometheus rule, which is called like its alert. */
export type Rule = {
  /** One line about what is wrong, with the labels and the value of the metric. */
  readonly summary: string
  readonly expr: string
  /** Time for which the expression must hold, as `5m`. */
  readonly for: string
  /** Series that fire the rule, with their values in the notation of promtool: `0` stays 0, `0+10` grows by 10 a minute. */
  readonly fires: Series
  /** Series, near the limit, that do not fire it. */
  readonly quiet: Series
}
export type Series = Readonly<Record<string, string>>

/**
 * A kind of alert: all that is known about something that needs an operator. It is noticed by a Prometheus rule, by log
 * lines, by `ops status`, or by several of them. Texts are Markdown of the runbook.
 */
export type Alert = {
  /** `page` needs action now; `ticket` waits for working hours. */
  readonly severity: 'page' | 'ticket'
  /** What is wrong and what it means, unless the lines or the steps say it. */
  readonly means?: string
  readonly steps: string
  /** First command, for a shell of the runbook. It begins with `ops` if it is one of the operators' commands. */
  readonly command?: string
  /** What ends it, after "Ends when". Null for an event, of which nothing lasts. */
  readonly ends: string | null
  readonly access: readonly Access[]
  readonly rule?: Rule
  /** Log lines that raise it. */
  readonly log?: readonly AlarmLine[]
  /** True if `ops status` and the console report it from their own facts. */
  readonly inStatus?: true
}

export type Alerts = Readonly<Record<string, Alert>>
