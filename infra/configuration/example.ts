import type { Row } from './rows'

const head = `# A deployment on the test chain: copy to testnet.env (chmod 0600), fill in, and start it with
#
#   docker compose --env-file testnet.env up -d --build
#
# Fill in every line that ends in "=". A line that starts with "# NAME=" shows a default; remove the
# "# " to change it. No quotes and no comments after a value. operations/runbook/deploy.md states where to get the
# values. Secrets that move money can be given as files instead: see compose/secrets.yaml.
# Passwords: letters and digits only, for example from: openssl rand -hex 24
# A list is comma-separated, and "none" is an empty one. NAME_FILE is the path of a file with the value.
`

export type Section = {
  readonly title: string
  readonly names: readonly string[]
  readonly isComment?: true
}

export type Proposals = {
  /** Values that differ from the defaults. The operator must fill in an empty one. */
  readonly values: ReadonlyMap<string, string>
  readonly neverKept: ReadonlyMap<string, string>
}

/** Returns env.example. It has each variable of every process once, under the first process that reads it. */
export function exampleOf(sections: readonly Section[], rows: readonly Row[], proposals: Proposals): string {
  const meaningsOf = (name: string) => rows.filter((row) => row.name === name)
  const body = sections
    .filter(({ names }) => names.length > 0)
    .map(({ title, names, isComment }) => {
      const entries = names.map((name) => entryOf(name, meaningsOf(name), proposals))
      const shown = isComment ? entries.map((entry) => entry.replace(/^(?!#)/gm, '# ')) : entries
      return [`# ---- ${title}`, ...shown].join('\n\n')
    })
  return `${[head, ...body].join('\n\n').replace('\n\n\n', '\n\n')}\n`
}

function entryOf(name: string, rows: readonly Row[], proposals: Proposals): string {
  const lines = new Set(rows.map(explanationOf))
  const readers = rows.flatMap((row) => row.readers)
  if (readers.length > 1) lines.add(`# Read by ${readers.join(', ')}.`)
  const presets = new Set(rows.map(({ fallback }) => fallback))
  if (presets.size > 1 && !presets.has(undefined)) lines.add(`# ${presetsOf(rows)}.`)
  return [...lines, settingOf(name, rows, proposals)].join('\n')
}

const explanationOf = ({ about, type, secret }: Row): string => `# ${about} (${secret ? `${type}, secret` : type})`

const presetsOf = (rows: readonly Row[]): string =>
  `Default: ${rows.map(({ fallback, readers }) => `${fallback} in ${readers.join(', ')}`).join('; ')}`

function settingOf(name: string, rows: readonly Row[], { values, neverKept }: Proposals): string {
  const kept = neverKept.get(name)
  if (kept !== undefined) return `# ${kept}`
  const proposed = values.get(name)
  if (proposed !== undefined) return `${name}=${proposed}`
  const isRequired = rows.some(({ fallback }) => fallback === undefined)
  return isRequired ? `${name}=` : `# ${name}=${rows[0]!.fallback}`
}
