import { join } from 'node:path'
import { type Composition, deployment } from '#infra/compose/composition'
import { referencesIn } from '#infra/compose/interpolation'
import { repositoryDir } from '#infra/local/folders'
import { composeVariables } from './compose-variables'
import { exampleOf, type Section } from './example'
import { processes } from './processes'
import { type Row, rowsOf } from './rows'
import { neverKept, testnetValues } from './testnet'

export const examplePath = join(repositoryDir, 'infra/env.example')

/** Returns the variables that an env file may set: those passed to services and those that compose.yaml substitutes. */
export function variablesOf(composition: Composition): string[] {
  const services = Object.values(composition.services)
  const handedOn = services.flatMap(({ environment }) =>
    Object.entries(environment ?? {}).flatMap(([name, value]) => (value === null ? [name] : referencesIn(value))),
  )
  const putIn = services.flatMap(({ image, ports }) => [image, ...(ports ?? [])].flatMap(referencesIn))
  const own = ['SECRETS_DIR']
  return [...new Set([...referencesIn(composition.name), ...own, ...putIn, ...handedOn])]
}

/** Returns the current text of env.example: the variables that compose.yaml takes, then those that it sets. */
export function exampleDocument(): string {
  const rows: Row[] = [...rowsOf(processes), ...composeVariables]
  const taken = variablesOf(deployment())
  const others = rows.map(({ name }) => name).filter((name) => !taken.includes(name))
  const names = [...new Set(others)].sort()
  const byHand = { title: 'set by compose.yaml', names, isComment: true as const }
  return exampleOf([...sections(taken), byHand], rows, { values: testnetValues, neverKept })
}

function sections(names: readonly string[]): Section[] {
  const composed = new Set(composeVariables.map(({ name }) => name))
  const isPassword = (name: string) => /_PASSWORD(_|$)/.test(name)
  const left = new Set(names)
  const take = (title: string, wanted: (name: string) => boolean): Section => {
    const taken = [...left].filter(wanted)
    for (const name of taken) left.delete(name)
    return { title, names: taken }
  }
  return [
    take('the deployment', (name) => composed.has(name) && !isPassword(name)),
    take('passwords inside the deployment', isPassword),
    ...Object.entries(processes).map(([title, fields]) => take(title, (name) => name in fields)),
    take('other', () => true),
  ]
}
