import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterMigrations, type Guard, root } from './guard'
import { guards } from './list/all'
import { findMarks, marksIn } from './marks'

const marks = findMarks()

/**
 * Returns the new texts of the files of `dir` without the guard. Throws if a mark or an operator does
 * not fit.
 */
export function withoutGuard(guard: Guard, dir = root): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const read = (file: string) => texts.get(file) ?? textOf(file, dir)
  for (const one of [guard, ...(guard.also ?? []).map(named)]) takeOut(one, texts, read)
  for (const [file, text] of texts) if (text === textOf(file, dir)) throw new Error(`${file} is unchanged`)
  if (texts.size === 0) throw new Error('nothing is changed')
  return texts
}

function named(name: string): Guard {
  const found = guards.find(({ guard }) => guard === name)
  if (!found) throw new Error(`there is no guard: ${name}`)
  return found
}

function takeOut({ guard, by, index }: Guard, texts: Map<string, string>, read: (file: string) => string): void {
  const files = marks.get(guard) ?? []
  const operators = typeof by === 'function' ? files.map(() => by) : (by ?? [])
  if (operators.length !== files.length || (by && files.length === 0))
    throw new Error(`${files.length} marks for ${operators.length} operators`)
  // The last mark is edited first, because the code of the first may contain it.
  for (const [at, file] of [...files.entries()].toReversed()) {
    const text = read(file)
    const nth = at - files.indexOf(file)
    const { from, to } = marksIn(text).filter(({ words }) => words === guard)[nth]!
    texts.set(file, text.slice(0, from) + operators[at]!(text.slice(from, to)) + text.slice(to))
  }
  if (index === undefined) return
  const { file, statement } = afterMigrations(index)
  const text = read(file)
  texts.set(file, `${text.trimEnd()}\n--> statement-breakpoint\n${statement}\n`)
}

export const textOf = (file: string, dir = root): string => readFileSync(join(dir, file), 'utf8')
