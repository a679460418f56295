/** Log lines with the field `alarm` in one source file. */
export type AlarmLines = {
  /** Messages of the calls. The message of a template ends where its first value begins. */
  readonly lines: readonly string[]
  /** Lines of code with a field `alarm` that leads to no message in this file. */
  readonly unread: readonly string[]
}

/** The transpiler removes types and comments, and prints every source in one form. */
const transpiler = new Bun.Transpiler({ loader: 'ts' })

/** Matches a property of an object, but no property that is read from one. */
const field = /(?<![.\w])alarm(?=\s*[:,}])/g

/**
 * Follows each field `alarm` to the call that logs it, also through a constant or a spread. The argument after the
 * fields is the message. The limit of a state has its message as the value of the field.
 */
export function alarmLinesIn(source: string): AlarmLines {
  const text = transpiler.transformSync(source)
  const code = withoutTexts(text)
  const lines: string[] = []
  const unread: string[] = []
  for (const { index } of code.matchAll(field)) {
    const fields = enclosing(code, index)
    const value = text.slice(index, endOfPart(code, index)).trim()
    if (!fields || code[fields.from] !== '{' || isPattern(code, fields) || value === 'alarm: false') continue
    const messages = textsIn(value).length > 0 ? [value] : messagesOf(text, code, fields)
    const isRead = messages.length > 0 && messages.every((one) => one === ofState || textsIn(one).length > 0)
    if (!isRead) unread.push(lineAt(text, index))
    lines.push(...messages.flatMap(textsIn))
  }
  return { lines: [...new Set(lines)], unread }
}

/** Places in the code; `to` is excluded. */
type Span = { readonly from: number; readonly to: number }

/** A message with this name is the line of a state's limit, which its own field `alarm` declares. */
const ofState = 'alarm'

/** Returns the message of each call that gets these fields, as code. */
function messagesOf(text: string, code: string, { from, to }: Span): string[] {
  const name = /\b(\w+) = $/.exec(code.slice(0, from))?.[1]
  if (name) return usesOf(code, name, to).flatMap((use) => messagesOf(text, code, use))
  const outer = enclosing(code, from)
  if (!outer) return []
  // These fields are spread into others, or are a property of them.
  if (code[outer.from] === '{') return messagesOf(text, code, outer)
  if (code[outer.from] !== '(' || code[to] !== ',') return []
  return [text.slice(to + 1, endOfPart(code, to + 1)).trim()]
}

/** Returns every place where a constant is named, until another constant of the same name is declared. */
function usesOf(code: string, name: string, after: number): Span[] {
  const next = code.slice(after).search(new RegExp(`\\b(?:const|let) ${name} =|, ${name} = `))
  const scope = next < 0 ? code : code.slice(0, after + next)
  const named = new RegExp(`(?<!\\w|[^.]\\.)${name}\\b(?!\\s*:)`, 'g')
  named.lastIndex = after
  return [...scope.matchAll(named)].map(({ index }) => ({ from: index, to: index + name.length }))
}

/** Returns more than one text if the expression is a choice. */
const textsIn = (expression: string): string[] =>
  [...expression.matchAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\$]|\\.)*)[^`]*`/g)].map(
    ([, double, single, template]) => (double ?? single ?? template)!,
  )

const texts =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<=[(,=:[!&|?{};]\s*|return )\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//gs

/** Replaces strings, templates and patterns by underscores, so that every bracket left is one of the code. */
const withoutTexts = (text: string) => text.replace(texts, (one) => '_'.repeat(one.length))

/** Returns the innermost brackets around a place, with their content. */
function enclosing(code: string, at: number): Span | undefined {
  let depth = 0
  for (let from = at - 1; from >= 0; from--) {
    if (/[)\]}]/.test(code[from]!)) depth += 1
    else if (/[([{]/.test(code[from]!) && depth-- === 0) return { from, to: closing(code, from) }
  }
  return undefined
}

function closing(code: string, from: number): number {
  let depth = 0
  for (let to = from; to < code.length; to++) {
    if (/[([{]/.test(code[to]!)) depth += 1
    else if (/[)\]}]/.test(code[to]!) && --depth === 0) return to + 1
  }
  return code.length
}

/** Returns the end of the argument or property that begins at `from`. */
function endOfPart(code: string, from: number): number {
  let depth = 0
  for (let to = from; to < code.length; to++) {
    if (depth === 0 && /[,)\]}]/.test(code[to]!)) return to
    if (/[([{]/.test(code[to]!)) depth += 1
    else if (/[)\]}]/.test(code[to]!)) depth -= 1
  }
  return code.length
}

/** Returns true for a pattern, which reads the field from an object. */
const isPattern = (code: string, { to }: Span) => /^(?: = | of |[^()]*\) =>)/.test(code.slice(to))

const lineAt = (text: string, at: number) => text.slice(text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at)).trim()
