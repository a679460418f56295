import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'

// `// guard: <words>`, in SQL `-- guard: <words>`, marks the code of a guard in the sources. In a `*.test.ts` it marks the
// test, or the row of its table, that fails without the guard; in `test/orders/races` the race in which an order goes
// wrong.

const races = 'test/orders/races/'
const files = ['{services,shared,infra}/**/*.{ts,sol}', `${races}*.ts`]
  .flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: repositoryDir })])
  .toSorted()
const comment = /^ *(?:\/\/|--)/
const mark = /^ *(?:\/\/|--) guard: (.*)$/
const other = /^ *\/\/ together with: (.*)$/

export type Marked = {
  readonly words: string
  /** Guards that protect the same thing and are taken out too. */
  readonly others: readonly string[]
  readonly from: number
  readonly to: number
}

/**
 * Returns the marked code as ranges of the text: the line below the mark, the lines below it that are indented deeper,
 * and the line that closes it.
 */
export function marksIn(text: string): Marked[] {
  if (!text.includes(' guard: ')) return []
  const lines = text.split('\n')
  const depthOf = (at: number) => lines[at]?.search(/\S/) ?? -1
  const placeOf = (at: number) => lines.slice(0, at).reduce((sum, { length }) => sum + length + 1, 0)
  return lines.flatMap((line, at) => {
    const words = mark.exec(line)?.[1]
    if (words === undefined) return []
    const others: string[] = []
    for (let below = at + 1; other.test(lines[below] ?? ''); below++) others.push(other.exec(lines[below]!)![1]!)
    let first = at
    while (comment.test(lines[first] ?? '')) first++
    const depth = depthOf(first)
    let next = first + 1
    const isClosing = () => depthOf(next) === depth && /^ *[)\]}`]/.test(lines[next] ?? '')
    while (depthOf(next) > depth || isClosing()) next++
    return [{ words, others, from: placeOf(first), to: placeOf(next) }]
  })
}

const isRace = (file: string) => file.startsWith(races)
const isTest = (file: string) => file.endsWith('.test.ts')

export const textOf = (file: string, dir = repositoryDir): string => readFileSync(join(dir, file), 'utf8')

/** Returns the files of every mark in the sources, by the words of the guard, in the order of files and lines. */
export function findMarks(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const file of files.filter((one) => !isTest(one) && !isRace(one)))
    for (const { words } of marksIn(textOf(file))) found.set(words, [...(found.get(words) ?? []), file])
  return found
}

/** A test that fails without a guard. `row` has the values of its title's first placeholders, if it is one of a table. */
export type NamedTest = { readonly file: string; readonly name: string; readonly row: readonly string[] }

type Proven<Proof> = { readonly guards: readonly string[]; readonly proof: Proof }

/** Returns the tests that are marked, with the guards without which they must fail. */
export const findTests = (): Proven<NamedTest>[] =>
  findBelow(isTest, (code, below, file) => {
    const named = testIn(code, below)
    return named && { file, ...named }
  })

/** Returns the names of the races that are marked, with the guards without which an order must go wrong. */
export const findRaces = (): Proven<string>[] => findBelow(isRace, (code) => raceName.exec(code)?.[1])

const raceName = /^ *name: '(.*)',$/m

function findBelow<Proof>(
  isOf: (file: string) => boolean,
  read: (code: string, below: string, file: string) => Proof | undefined,
): Proven<Proof>[] {
  return files.filter(isOf).flatMap((file) => {
    const text = textOf(file)
    return marksIn(text).map(({ words, others, from, to }) => {
      const proof = read(text.slice(from, to), text.slice(to), file)
      if (proof === undefined) throw new Error(`${file}: no test and no race begins below the mark: ${words}`)
      return { guards: [words, ...others], proof }
    })
  })
}

const literal = /(['"`])((?:\\.|(?!\1)[^\\])*)\1/.source
const plain = new RegExp(`^ *(?:test|it)(?:\\.\\w+)*\\(\\s*${literal}`)
/** The title that follows a table. */
const titled = new RegExp(`\\)\\(\\s*${literal},`)
const value = new RegExp(`^\\s*${literal}\\s*(?:,|\\]|$)`)

/** Reads title and row of the test that is the code, or of the test whose table the code is a row of. */
export function testIn(code: string, below: string): Pick<NamedTest, 'name' | 'row'> | undefined {
  const single = plain.exec(code)?.[2]
  if (single !== undefined) return { name: single, row: [] }
  const isTable = /^ *(?:test|it)\b/.test(code)
  const name = isTable || /^ *[[{'"`]/.test(code) ? titled.exec(code + below)?.[2] : undefined
  return name === undefined ? undefined : { name, row: isTable ? [] : valuesOf(code, name) }
}

/** Returns the texts at the beginning of a row that are values of the title's first placeholders. */
function valuesOf(code: string, title: string): string[] {
  const values: string[] = []
  let rest = code.replace(/^\s*\[/, '')
  for (const [placeholder] of title.matchAll(placeholders)) {
    const found = placeholder === '%s' ? value.exec(rest) : null
    if (!found) break
    values.push(found[2]!)
    rest = rest.slice(found[0].length)
  }
  return values
}

export const placeholders = /%[spodifj#]/g
