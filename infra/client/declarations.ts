/** Declarations as the compiler emits them, by the name of their module. */
type Emitted = ReadonlyMap<string, string>

const declaration = /^(?:export )?(?:declare )?(?:abstract )?(?:const|function|class|type|interface|namespace) (\w+)/

/**
 * Joins the declarations of modules into one file that exports what `entry` exports, and the namespace `schemas`. A name may
 * be declared twice only in the same words.
 * @throws Error that names the two modules otherwise.
 */
export function joinDeclarations(emitted: Emitted, entry: string): string {
  const external = new Map<string, Set<string>>()
  const known = new Map<string, { readonly text: string; readonly from: string }>()
  const exported = new Set<string>(['schemas'])
  for (const [from, text] of emitted)
    for (const statement of statementsOf(text)) {
      const [, imported, source] = /^import (?:type )?\{([^}]*)\} from '([^']+)';?$/.exec(statement.code) ?? []
      if (imported !== undefined && source !== undefined) {
        if (source.startsWith('#')) continue
        const names = external.get(source) ?? new Set()
        external.set(source, names)
        for (const name of wordsOf(imported)) names.add(name.replace(/^type /, ''))
        continue
      }
      const [, passed] = /^export (?:type )?\{([^}]*)\}/.exec(statement.code) ?? []
      if (passed !== undefined) {
        if (from === entry) for (const name of wordsOf(passed)) exported.add(name.replace(/^type /, ''))
        continue
      }
      const name = declaration.exec(statement.code)?.[1]
      if (name === undefined) throw new Error(`${from} declares what cannot be joined: ${statement.code}`)
      if (from === entry && statement.code.startsWith('export ')) exported.add(name)
      const plain = `${statement.comment}${statement.code.replace(/^export /, '')}`
      const before = known.get(name)
      if (before && before.text !== plain)
        throw new Error(`${before.from} and ${from} both declare ${name}: rename one, or write it in one place`)
      known.set(name, { text: plain, from })
    }
  for (const [source, names] of external)
    for (const name of names)
      if (known.has(name))
        throw new Error(`${known.get(name)!.from} declares ${name}, which another module has of ${source}`)
  const missing = [...exported].filter((name) => !known.has(name))
  if (missing.length > 0) throw new Error(`${entry} exports what no module declares: ${missing.join(', ')}`)
  return [
    ...[...external].map(([source, names]) => `import type { ${[...names].sort().join(', ')} } from '${source}'`),
    ...needed(
      [...known].map(([name, { text }]) => [name, text.replace(/import\("[#.][^"]*"\)\./g, '')]),
      exported,
    ),
    `export { ${[...exported].sort().join(', ')} }`,
    '',
  ].join('\n')
}

/** Returns the declarations that those of `wanted` name, directly or not. */
function needed(declared: readonly (readonly [string, string])[], wanted: ReadonlySet<string>): string[] {
  const texts = new Map(declared)
  const found = new Set(wanted)
  for (const name of found) {
    const code = texts.get(name)?.replace(/\/\*\*.*?\*\//gs, '') ?? ''
    for (const [word] of code.matchAll(/\w+/g)) if (texts.has(word)) found.add(word)
  }
  return declared.flatMap(([name, text]) => (found.has(name) ? [text] : []))
}

const wordsOf = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** Splits a file that the compiler emitted into its statements, each with its comment. */
function statementsOf(text: string): { readonly comment: string; readonly code: string }[] {
  const starts = /^(?=\/\*\*|import |export |declare |type |interface )/m
  const statements: { comment: string; code: string }[] = []
  let comment = ''
  for (const part of text.split(starts)) {
    const trimmed = part.trim()
    if (trimmed.startsWith('/**')) comment = `${trimmed}\n`
    else if (trimmed !== '' && !trimmed.startsWith('//')) {
      statements.push({ comment, code: trimmed.replace(/\n\/\/[^\n]*$/g, '') })
      comment = ''
    }
  }
  return statements
}
