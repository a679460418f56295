import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { serviceNames } from '#shared/messages/topic'
import { bank } from '../../support/requests'
import type { SearchedText, Secret, Written } from '../evidence'
import type { Stored } from './messages'

export function leaksIn(told: readonly SearchedText[], secrets: readonly Secret[]): string[] {
  return told.flatMap(({ where, text }) =>
    secrets.filter((secret) => text.includes(secret.text)).map(({ name }) => `${where} has ${name}`),
  )
}

const isSecretName = /KEY|SECRET|PASSWORD|TOKEN/
/** Least length of a secret; shorter values are common words or numbers. */
const shortest = 12

/** Returns the secrets. It reads `/proc` of the last instances, because an upgrade stops the first. */
function secretsOf(stack: Stack): Secret[] {
  const secrets = new Map<string, string>()
  for (const name of serviceNames) {
    const pid = stack.process(name, stack.gateways.length).pid()
    for (const line of readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')) {
      const [variable = '', ...rest] = line.split('=')
      const value = rest.join('=')
      const [, inUrl] = /\/\/[^:/@]+:([^@/]+)@/.exec(value) ?? []
      const parts = isSecretName.test(variable) ? value.split(/[,:]/) : inUrl ? [inUrl] : []
      for (const part of parts) if (part.length >= shortest) secrets.set(part, `${variable} of ${name}`)
    }
  }
  return [...secrets].map(([text, name]) => ({ name, text }))
}

async function personalOf(people: readonly Person[]): Promise<Secret[]> {
  const sessions = await Promise.all(
    people.map(async ({ authorization }) => ({
      name: "a user's session",
      text: (await authorization()).replace(/^\S+ /, ''),
    })),
  )
  return [
    ...sessions,
    { name: 'an account holder name', text: bank.accountHolderName },
    { name: 'an account number', text: bank.accountNumber },
  ]
}

/** Logs of the stand-ins for provider, banks and chain, which are not searched. */
const notOurs = /^(?:sandbox|chain)/

const logsOf = ({ dir }: Stack): SearchedText[] =>
  readdirSync(join(dir, 'logs'))
    .filter((name) => !notOurs.test(name))
    .map((name) => ({ where: `log ${name}`, text: readFileSync(join(dir, 'logs', name), 'utf8') }))

async function metricsOf({ consoles }: Stack): Promise<SearchedText[]> {
  const answer = await fetch(`${consoles.at(-1)}/metrics`)
  return [{ where: 'metrics', text: await answer.text() }]
}

async function deadLettersOf({ adminUrl }: Stack): Promise<SearchedText[]> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    const schemas = ['gateway', 'payments', 'payouts', 'chain_relayer']
    const rows = await Promise.all(
      schemas.map((schema) => sql`select to_jsonb(d)::text as row from ${sql(schema)}.dead_letter d`),
    )
    return rows.flat().map(({ row }) => ({ where: 'dead letter', text: row as string }))
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Reads everything that was written where others may read it, and the secrets. `errors` are bodies of error responses. */
export async function readWritten(
  stack: Stack,
  people: readonly Person[],
  stored: readonly Stored[],
  errors: ReadonlySet<string>,
): Promise<Written> {
  return {
    secrets: [...secretsOf(stack), ...(await personalOf(people))],
    texts: [
      ...logsOf(stack),
      ...(await metricsOf(stack)),
      ...stored.map(({ stream, text }) => ({ where: `message ${stream}`, text })),
      ...(await deadLettersOf(stack)),
      ...[...errors].map((text) => ({ where: 'error', text })),
    ],
  }
}

/** Returns the number of secrets, and of characters searched for them by kind of place. */
export function searchedIn({ texts, secrets }: Written): Readonly<Record<string, number>> {
  const searched: Record<string, number> = { secrets: secrets.length }
  for (const { where, text } of texts) {
    const kind = where.split(' ')[0]!
    searched[kind] = (searched[kind] ?? 0) + text.length
  }
  return searched
}
