import { type NamedTest, placeholders } from './marks'

/** `red` if the proof noticed that the guard is missing; `broken` if it did not run as it should. */
export type GuardVerdict =
  | { readonly is: 'green' }
  | { readonly is: 'red'; readonly by: string }
  | { readonly is: 'broken'; readonly why: string }

/** Returns a pattern for the end of a test's full name, in which a value may have several lines. */
export function patternOf({ name, row }: Pick<NamedTest, 'name' | 'row'>): string {
  const [first = '', ...others] = name.split(placeholders)
  const rest = others.map((text, at) => `${escaped(row[at], '[\\s\\S]*')}${escaped(text)}`)
  return `${escaped(first)}${rest.join('')}$`
}

const escaped = (text: string | undefined, otherwise = ''): string =>
  text?.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') ?? otherwise

/** Judges the output of a run of tests. Only a failed assertion or an expired deadline of the test itself counts. */
export function judge(said: string, patterns: readonly string[]): GuardVerdict {
  const blocks = blocksOf(said)
  const named = (name: string) => patterns.some((one) => new RegExp(one).test(name))
  const failed = blocks.filter(({ word }) => word === 'fail')
  const [first] = failed
  // Later failures may follow from the test whose time is over.
  const isOther = first && !named(first.name)
  if (isOther || /Unhandled error between tests/.test(first?.text ?? said))
    return { is: 'broken', why: firstFault(first?.text ?? said) }
  const red = failed.find(({ name, text }) => named(name) && isExpected(text))
  if (red) return { is: 'red', by: `${red.name}: ${firstFault(red.text)}` }
  if (first) return { is: 'broken', why: firstFault(first.text) }
  const passed = blocks.filter(({ word }) => word === 'pass').map(({ name }) => name)
  const isWhole = patterns.every((one) => passed.some((name) => new RegExp(one).test(name)))
  return isWhole ? { is: 'green' } : { is: 'broken', why: firstFault(said) }
}

type Block = { readonly word: string; readonly name: string; readonly text: string }

/** Splits the output into blocks. An error comes before its test's name, a timeout after it. */
function blocksOf(said: string): Block[] {
  const lines = said.split('\n')
  const blocks: Block[] = []
  let from = 0
  for (const [at, line] of lines.entries()) {
    const [, word, name] = /^\((pass|fail)\) (.*?)(?: \[[\d.]+m?s\])?$/.exec(line) ?? []
    if (!word || !name) continue
    const after = lines[at + 1]?.startsWith('  ^') ? [lines[at + 1]] : []
    blocks.push({ word, name, text: [...lines.slice(from, at), ...after].join('\n') })
    from = at + 1
  }
  return blocks
}

const isExpected = (text: string): boolean =>
  /^error: (?:expect\(|Received value must)|(?:did not happen within|timed out after) \d+ ms|this test timed out after|Expected promise/m.test(
    text,
  )

const firstFault = (text: string): string =>
  /^(?:error|\w*Error): .*$|this test timed out after .*|did not happen within \d.*/m.exec(text)?.[0] ??
  text.trim().split('\n').slice(-3).join(' ')
