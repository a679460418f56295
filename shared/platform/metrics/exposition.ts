type Labels = Readonly<Record<string, string>>

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const pairsOf = (labels: Labels) => Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)

const sampleName = /^[a-zA-Z_:][a-zA-Z0-9_:]*/

/** Adds labels to a text in Prometheus' format 0.0.4. */
export function labelExposition(text: string, labels: Labels): string {
  const added = pairsOf(labels).join(',')
  const withLabels = (line: string) => {
    const [name] = sampleName.exec(line) ?? []
    if (name === undefined) return line
    const rest = line.slice(name.length)
    return rest.startsWith('{') && !rest.startsWith('{}')
      ? `${name}{${added},${rest.slice(1)}`
      : `${name}{${added}}${rest.replace('{}', '')}`
  }
  return text
    .split('\n')
    .map((line) => (line.startsWith('#') ? line : withLabels(line)))
    .join('\n')
}

/** Merges texts, with all samples of a metric under one heading, as the format requires. */
export function mergeExpositions(texts: readonly string[]): string {
  const measures = new Map<string, { heading: string[]; samples: string[] }>()
  for (const text of texts) {
    let current: { heading: string[]; samples: string[] } | undefined
    for (const line of text.split('\n')) {
      const [, kind, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? []
      if (kind !== undefined) {
        const known = measures.get(name!)
        current = known ?? { heading: [], samples: [] }
        measures.set(name!, current)
        if (!current.heading.some((said) => said.startsWith(`# ${kind} `))) current.heading.push(line)
      } else if (line !== '' && !line.startsWith('#')) current?.samples.push(line)
    }
  }
  const all = [...measures.values()].filter(({ samples }) => samples.length > 0)
  return all.map(({ heading, samples }) => `${[...heading, ...samples].join('\n')}\n`).join('')
}
