import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Performed } from '#infra/ops/deed.store'
import { type Operator, openOperator, operatorName } from '#infra/ops/operator'
import type { Say } from '#shared/command'
import { counted } from '#shared/trace/words'

/** What `bun run ops <verb>` does for one verb; each verb is one module that exports its own. */
export type Verb = {
  /** In a few words, for the list that is printed when no verb is given. */
  does: string
  /** Answers the exit code: 0 when nothing needs a person, 1 when something does, 2 when told wrongly. */
  run: (words: string[], say: Say) => Promise<number>
  /** What its first word may be, if that says which of several verbs it is. */
  among?: Readonly<Record<string, Verb>>
}

/** The words behind a verb, and its options by name. */
export type Told = {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
}

/** What a reading verb found: for a person, for a program, and whether all is well. */
export type Found = { readonly text: string; readonly data: object; readonly ok: boolean }

type Form = {
  readonly does: string
  /** What may follow the verb, as it is typed: printed when it was told wrongly. */
  readonly usage: string
  /** How many words it takes, besides options: exactly, or from and to. */
  readonly takes?: number | readonly [number, number]
  /** What is wrong with the form of words and options; undefined: nothing. Without it nothing ever is. */
  readonly faultIn?: (words: readonly string[], options: Told['options']) => string | undefined
  readonly options?: ParseArgsOptionsConfig
}

/** A verb that reads and changes nothing. With `--json` it prints the same as one JSON value. */
export const reading = (
  form: Form & { read: (told: Told, operator: Operator) => Promise<Found> },
): Verb => ({
  does: form.does,
  run: async (words, say) => {
    const told = understood(words, form, { json: { type: 'boolean' } })
    if ('help' in told) return helped(told, say)
    await using operator = openOperator()
    const { text, data, ok } = await form.read(told, operator)
    say(told.options.json ? jsonOf({ ok, ...data }) : text)
    return ok ? 0 : 1
  },
})

/** Who asks for a change, and why: both are written down, and go to the service that makes it. */
export type Asked = Told & { readonly reason: string; readonly by: string }

/**
 * A verb that changes something: by asking the service that owns it, never by writing its rows. It
 * needs `--reason`, and answers what came of each deed that it had done (`perform` in
 * `deed.store.ts`). Exit code 0 only when all of them are done.
 */
export const changing = (
  form: Form & { change: (asked: Asked, operator: Operator) => Promise<readonly Performed[]> },
): Verb => ({
  does: form.does,
  run: async (words, say) => {
    const told = understood(words, form, {
      ...{ json: { type: 'boolean' }, reason: { type: 'string' }, by: { type: 'string' } },
    })
    if ('help' in told) return helped(told, say)
    const reason = String(told.options.reason ?? '').trim()
    if (reason === '')
      return helped({ help: helpOf(form, 'it needs --reason, and why'), code: 2 }, say)
    const by = operatorName(told.options.by)
    await using operator = openOperator()
    const performed = await form.change({ ...told, reason, by }, operator)
    const ok = performed.every((one) => 'done' in one)
    const text = performed.length > 0 ? performed.map(wordsOf).join('\n') : 'nothing is left to do'
    say(told.options.json ? jsonOf({ ok, performed }) : text)
    return ok ? 0 : 1
  },
})

/** What came of a deed, in a line. */
export function wordsOf(performed: Performed): string {
  if ('refused' in performed) return `refused: ${performed.refused}`
  const { earlier } = performed
  if (!earlier) return performed.done
  const { by, at, reason } = earlier
  return `${performed.done} (before: by ${by}, ${at.toISOString()}, ${reason})`
}

/** A verb whose first word says which of several it is. */
export const among = (does: string, verbs: Readonly<Record<string, Verb>>): Verb => ({
  does,
  among: verbs,
  run: async ([name = '', ...words], say) => {
    if (Object.hasOwn(verbs, name)) return verbs[name]!.run(words, say)
    const lines = Object.entries(verbs).map(([one, verb]) => `  ${one.padEnd(10)} ${verb.does}`)
    const isHelp = asksForHelp([name])
    const wrong = isHelp || name === '' ? [] : [`not understood: ${name} is none of them`]
    say(['one of:', ...lines, ...wrong].join('\n'))
    return isHelp ? 0 : 2
  },
})

/** What is printed instead of doing anything, and the exit code: it was asked for, or told wrongly. */
type Help = { readonly help: string; readonly code: 0 | 2 }

function helped({ help, code }: Help, say: Say): number {
  say(help)
  return code
}

/** Whoever asks is told the usage, and nothing is done. */
export const asksForHelp = (words: readonly string[]): boolean =>
  words.some((word) => word === '--help' || word === '-h')

/** What was told; or the usage, with what is wrong: an option that is not there, too few words, too many. */
function understood(words: string[], form: Form, common: ParseArgsOptionsConfig): Told | Help {
  if (asksForHelp(words)) return { help: helpOf(form), code: 0 }
  const read = readWords(words, { ...form.options, ...common })
  const wrong =
    'wrong' in read ? read.wrong : (countFault(form, read.words) ?? formFault(form, read))
  return wrong === undefined ? (read as Told) : { help: helpOf(form, wrong), code: 2 }
}

/** The words and options of a command line; or in words, what is wrong with them. */
export function readWords(
  args: string[],
  options: ParseArgsOptionsConfig,
): Told | { readonly wrong: string } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    return { words: positionals, options: values as Told['options'] }
  } catch (error) {
    // The rest of it tells how such an option would be a word.
    return { wrong: (error as Error).message.split('. ')[0]! }
  }
}

function countFault({ takes = 0 }: Form, { length }: readonly string[]): string | undefined {
  const [least, most] = typeof takes === 'number' ? [takes, takes] : takes
  if (length >= least && length <= most) return undefined
  const wanted = least === most ? counted(least, 'word') : `${least} to ${counted(most, 'word')}`
  return `it takes ${wanted} besides options, and was given ${length}`
}

const formFault = ({ faultIn }: Form, { words, options }: Told) => faultIn?.(words, options)

const helpOf = ({ usage, does }: Form, wrong?: string): string =>
  [
    `usage: bun run ops ${usage}`,
    `  ${does}`,
    ...(wrong === undefined ? [] : [`not understood: ${wrong}`]),
  ].join('\n')

/** Amounts are bigint: in JSON they are strings. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one), 2)
