import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './guard'

// A guard is marked by `// guard: <its words>` above the code that it is, in SQL by `-- guard: …`.

const sources = new Bun.Glob('{services,shared,infra}/**/*.{ts,sol}')
const comment = /^ *(?:\/\/|--)/
const mark = /^ *(?:\/\/|--) guard: (.*)$/

/** Returns the files of every mark, by the words of the guard, in the order of files and lines. */
export function findMarks(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const file of [...sources.scanSync({ cwd: root })].toSorted())
    for (const { words } of marksIn(readFileSync(join(root, file), 'utf8')))
      found.set(words, [...(found.get(words) ?? []), file])
  return found
}

export type Marked = { readonly words: string; readonly from: number; readonly to: number }

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
    let first = at
    while (comment.test(lines[first] ?? '')) first++
    const depth = depthOf(first)
    let next = first + 1
    const isClosing = () => depthOf(next) === depth && /^ *[)\]}`]/.test(lines[next] ?? '')
    while (depthOf(next) > depth || isClosing()) next++
    return [{ words, from: placeOf(first), to: placeOf(next) }]
  })
}
