import { repositoryDir } from '#infra/local/folders'
import { type EngineRun, engineRuns } from './engines'
import { afterMigrations, indexGuards, indexOf } from './indexes'
import { findMarks, findRaces, findTests, marksIn, type NamedTest, textOf } from './marks'
import { mutations } from './mutations'
import { leftOut } from './operators'

/** What must notice that a guard is missing. */
export type Proof =
  | { readonly by: 'test'; readonly test: NamedTest }
  | { readonly by: 'race'; readonly race: string }
  | { readonly by: 'engine'; readonly run: EngineRun }

/** The sources without one guard, or without several that protect the same thing. */
export type Mutant = { readonly guards: readonly string[]; readonly proof: Proof }

/** The test of every unique index, which is named by a row of its table. */
export const uniqueTest = {
  file: 'infra/migrations/unique.test.ts',
  name: 'security: Postgres refuses by %s a second row of %s with the same %s: %s',
}

/** Every mutant, each with the proof that must notice it. */
export const mutants: readonly Mutant[] = [
  ...findTests().map(({ guards, proof }): Mutant => ({ guards, proof: { by: 'test', test: proof } })),
  ...indexGuards.map((guard): Mutant => {
    const test = { ...uniqueTest, row: [indexOf(guard)!] }
    return { guards: [guard], proof: { by: 'test', test } }
  }),
  ...findRaces().map(({ guards, proof }): Mutant => ({ guards, proof: { by: 'race', race: proof } })),
  ...engineRuns.map((run): Mutant => ({ guards: run.guards, proof: { by: 'engine', run } })),
]

const marks = findMarks()
/** Names of all guards: the marks in the sources, and the unique indexes. */
export const guards: ReadonlySet<string> = new Set([...marks.keys(), ...indexGuards])

/** Returns the new texts of the files of `dir` without these guards. Throws if a guard or its operator does not fit. */
export function withoutGuards(names: readonly string[], dir = repositoryDir): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const read = (file: string) => texts.get(file) ?? textOf(file, dir)
  for (const name of names) {
    const index = indexOf(name)
    if (index === undefined) takeOut(name, texts, read)
    else {
      const { file, statement } = afterMigrations(index)
      texts.set(file, `${read(file).trimEnd()}\n--> statement-breakpoint\n${statement}\n`)
    }
  }
  return texts
}

/** Returns the code below each mark of a guard. */
export const codeOf = (name: string): string[] =>
  [...new Set(marks.get(name))].flatMap((file) => {
    const text = textOf(file)
    return marksIn(text).flatMap(({ words, from, to }) => (words === name ? text.slice(from, to) : []))
  })

function takeOut(name: string, texts: Map<string, string>, read: (file: string) => string): void {
  const places = marks.get(name)
  if (!places) throw new Error(`no mark in the sources is named: ${name}`)
  const by = mutations[name] ?? leftOut
  const operators = typeof by === 'function' ? places.map(() => by) : by
  if (operators.length !== places.length) throw new Error(`${places.length} marks for ${operators.length} operators`)
  // The last mark is edited first, because the code of the first may contain it.
  for (const [at, file] of [...places.entries()].toReversed()) {
    const text = read(file)
    const nth = at - places.indexOf(file)
    const { from, to } = marksIn(text).filter(({ words }) => words === name)[nth]!
    const code = text.slice(from, to)
    const edited = operators[at]!(code)
    if (edited === code) throw new Error(`${file} is unchanged`)
    texts.set(file, text.slice(0, from) + edited + text.slice(to))
  }
}
