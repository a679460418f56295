import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { serviceNames } from '#shared/messages/topic'
import type { Stored } from './messages'

/** Something that must not be told, and what it is called where it is found. */
export type Secret = { readonly name: string; readonly text: string; readonly isPersonal?: boolean }
/** What somebody can read later, and what that is called. */
export type Told = { readonly where: string; readonly text: string }
export type Leaks = {
  /** Each thing that was told and where, in a sentence that does not tell it again. */
  readonly found: readonly string[]
  /** How many characters of each kind of place were searched. */
  readonly searched: Readonly<Record<string, number>>
}

/** What was found of `secrets` in what was told. Pure. */
export function leaksIn(told: readonly Told[], secrets: readonly Secret[]): string[] {
  return told.flatMap(({ where, text }) =>
    secrets
      .filter((secret) => text.includes(secret.text))
      .map(({ name }) => `${where} has ${name}`),
  )
}

/** Of a variable of a process: what it holds is nobody else's business. */
const isSecretName = /KEY|SECRET|PASSWORD|TOKEN/
/** Shorter ones are words like `allowed` or numbers, which may stand anywhere. */
const shortest = 12

/** What the copies that last were told when they were started, from the kernel: `proc_pid_environ(5)`. */
function secretsOf(stack: Stack): Secret[] {
  const secrets = new Map<string, string>()
  for (const name of serviceNames) {
    const pid = stack.process(name, 2).pid()
    for (const line of readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')) {
      const [variable = '', ...rest] = line.split('=')
      const value = rest.join('=')
      const [, inUrl] = /\/\/[^:/@]+:([^@/]+)@/.exec(value) ?? []
      const parts = isSecretName.test(variable) ? value.split(/[,:]/) : inUrl ? [inUrl] : []
      for (const part of parts)
        if (part.length >= shortest) secrets.set(part, `${variable} of ${name}`)
    }
  }
  return [...secrets].map(([text, name]) => ({ name, text }))
}

/** What people give the service and nobody else: sessions by which it knows them, and their bank accounts. */
async function personalOf(people: readonly Person[]): Promise<Secret[]> {
  const sessions = await Promise.all(
    people.map(async ({ authorization }) => ({
      ...{ name: "somebody's session", text: (await authorization()).replace(/^\S+ /, '') },
    })),
  )
  const bank = { accountHolderName: 'Sari Dewi', accountNumber: '1234567890' }
  return [
    ...sessions,
    { name: 'the name of an account', text: bank.accountHolderName, isPersonal: true },
    { name: 'the number of an account', text: bank.accountNumber, isPersonal: true },
  ]
}

/** Those of the provider, the banks and the chain are not ours. */
const notOurs = /^(?:sandbox|chain)/

const logsOf = ({ dir }: Stack): Told[] =>
  readdirSync(join(dir, 'logs'))
    .filter((name) => !notOurs.test(name))
    .map((name) => ({ where: `log ${name}`, text: readFileSync(join(dir, 'logs', name), 'utf8') }))

async function metricsOf({ consoles }: Stack): Promise<Told[]> {
  const answer = await fetch(`${consoles.at(-1)}/metrics`)
  return [{ where: 'metrics', text: await answer.text() }]
}

/** What was given up on, with why. */
async function deadLettersOf({ adminUrl }: Stack): Promise<Told[]> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    const schemas = ['gateway', 'payments', 'payouts', 'chain_relayer']
    const rows = await Promise.all(
      schemas.map(
        (schema) => sql`select to_jsonb(d)::text as row from ${sql(schema)}.dead_letter d`,
      ),
    )
    return rows.flat().map(({ row }) => ({ where: 'dead letter', text: row as string }))
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Deliveries are kept as the providers sent them, with what those know of a person. */
const isRaw = ({ where }: Told) => where === 'message WEBHOOKS'

/**
 * Looks through all that a stack told while people used it: logs, metrics, what was given up on, the
 * messages that are stored, and `errors`, the bodies of its refusals. Must be asked while it runs.
 */
export async function findLeaks(
  stack: Stack,
  people: readonly Person[],
  stored: readonly Stored[],
  errors: ReadonlySet<string>,
): Promise<Leaks> {
  const secrets = [...secretsOf(stack), ...(await personalOf(people))]
  const told = [
    ...logsOf(stack),
    ...(await metricsOf(stack)),
    ...stored.map(({ stream, text }) => ({ where: `message ${stream}`, text })),
    ...(await deadLettersOf(stack)),
    ...[...errors].map((text) => ({ where: 'error', text })),
  ]
  const found = [
    ...leaksIn(
      told.filter((one) => !isRaw(one)),
      secrets,
    ),
    ...leaksIn(
      told.filter(isRaw),
      secrets.filter(({ isPersonal }) => !isPersonal),
    ),
  ]
  const searched: Record<string, number> = { secrets: secrets.length }
  for (const { where, text } of told) {
    const kind = where.split(' ')[0]!
    searched[kind] = (searched[kind] ?? 0) + text.length
  }
  return { found: [...new Set(found)], searched }
}
