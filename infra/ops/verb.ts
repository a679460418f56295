import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Performed } from '#infra/ops/deed.store'
import { type Operator, openOperator, operatorName } from '#infra/ops/operator'
import type { Say } from '#shared/command'

/** What `bun run ops <verb>` does for one verb; each verb is one module that exports its own. */
export type Verb = {
  /** In a few words, for the list that is printed when no verb is given. */
  does: string
  /** Answers the exit code: 0 when nothing needs a person, 1 when something does, 2 when told wrongly. */
  run: (words: string[], say: Say) => Promise<number>
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
  /** Whether words and options have the form that it takes; without it, any have. */
  readonly fits?: (words: readonly string[], options: Told['options']) => boolean
  readonly options?: ParseArgsOptionsConfig
}

/** A verb that reads and changes nothing. With `--json` it prints the same as one JSON value. */
export const reading = (
  form: Form & { read: (told: Told, operator: Operator) => Promise<Found> },
): Verb => ({
  does: form.does,
  run: async (words, say) => {
    const told = understood(words, form, { json: { type: 'boolean' } })
    if (!told) return misunderstood(form, say)
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
    const reason = String(told?.options.reason ?? '').trim()
    if (!told || reason === '') return misunderstood(form, say)
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
  run: async ([name = '', ...words], say) => {
    if (Object.hasOwn(verbs, name)) return verbs[name]!.run(words, say)
    const lines = Object.entries(verbs).map(([one, verb]) => `  ${one.padEnd(10)} ${verb.does}`)
    say(['one of:', ...lines].join('\n'))
    return 2
  },
})

/** Undefined when it was told wrongly: an option that is not there, too few words, too many. */
function understood(words: string[], form: Form, common: ParseArgsOptionsConfig): Told | undefined {
  const { takes = 0 } = form
  const [least, most] = typeof takes === 'number' ? [takes, takes] : takes
  try {
    const options = { ...form.options, ...common }
    const read = parseArgs({ args: words, options, allowPositionals: true })
    const { length } = read.positionals
    if (length < least || length > most) return undefined
    const told = { words: read.positionals, options: read.values as Told['options'] }
    return form.fits && !form.fits(told.words, told.options) ? undefined : told
  } catch {
    return undefined
  }
}

function misunderstood({ usage, does }: Form, say: Say): number {
  say(`usage: bun run ops ${usage}\n  ${does}`)
  return 2
}

/** Amounts are bigint: in JSON they are strings. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one), 2)
