import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { faultOf } from '#infra/local/words'
import type { Performed } from '#infra/operations/audit-log/perform'
import type { Proposal, ProposedLine } from '#infra/operations/audit-log/proposals'
import { type Operator, openOperator, operatorName, type Signing } from '#infra/operations/cli/operator'
import { operatorSigner } from '#infra/operations/cli/signer'
import { counted, isPlain, visible } from '#infra/operations/text'
import { Faulted, Unavailable } from '#platform/bus/ask'
import type { Say } from '#platform/command'
import { DeadlinePassed } from '#platform/deadline'

export type Verb = {
  does: string
  /** Runs the command. Returns the exit code: 0 if nothing needs attention, 1 if something does, 2 for wrong usage. */
  run: (words: string[], say: Say) => Promise<number>
  among?: Readonly<Record<string, Verb>>
  /** Runs a proposed command for the second operator. Undefined if it changes nothing. */
  approve?: (proposal: Proposal, say: Say) => Promise<number>
}

export type CommandLine = {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
}

/**
 * Result of a command. `data` is printed for `--json`; `ok` is true if nothing needs attention. `lacks` is what a CSV file does
 * not have, and cannot say itself.
 */
export type CommandResult = {
  readonly text: string
  readonly data: object
  readonly ok: boolean
  readonly lacks?: readonly string[]
}

type Form = {
  readonly does: string
  readonly usage: string
  /** Number of arguments besides options: exact, or minimum and maximum. */
  readonly takes?: number | readonly [number, number]
  readonly faultIn?: (words: readonly string[], options: CommandLine['options']) => string | undefined
  readonly options?: ParseArgsOptionsConfig
}

export const reading = (
  form: Form & { read: (line: CommandLine, operator: Operator) => Promise<CommandResult> },
): Verb => ({
  does: form.does,
  run: async (words, say) => {
    const line = understood(words, form, { json: { type: 'boolean' } })
    if ('help' in line) return helped(line, say)
    await using operator = openOperator()
    const { text, data, ok, lacks = [] } = await form.read(line, operator)
    // A blank line would be an item for a program that reads the lines.
    if (line.options.json || text !== '') say(line.options.json ? jsonOf({ ok, ...data }) : visible(text))
    if (line.options.csv) for (const lack of lacks) say(visible(`the file does not have everything: ${lack}`), 'error')
    return ok ? 0 : 1
  },
})

export type CommandWords = CommandLine & { readonly reason: string; readonly by: string }

/**
 * Declares a command that changes something by asking the owning service, never by writing its rows. Its exit code is 0
 * only if every outcome is done.
 */
export const changing = (
  form: Form & {
    change: (asked: CommandWords, operator: Operator) => Promise<readonly Performed[]>
  },
): Verb => {
  const change = async (asked: CommandWords, signing: Signing | undefined, say: Say) => {
    await using operator = openOperator(undefined, signing)
    const performed = await form.change(asked, operator).catch(unasked)
    const ok = performed.every((one) => 'done' in one)
    const text = performed.length > 0 ? performed.map(wordsOf).join('\n') : 'nothing to do'
    say(asked.options.json ? jsonOf({ ok, performed }) : visible(text))
    return ok ? 0 : 1
  }
  return {
    does: form.does,
    run: async (words, say) => {
      const line = understood(words, form, {
        json: { type: 'boolean' },
        reason: { type: 'string' },
        by: { type: 'string' },
      })
      if ('help' in line) return helped(line, say)
      const reason = String(line.options.reason ?? '').trim()
      if (reason === '') return helped({ help: helpOf(form, '--reason is required'), code: 2 }, say)
      if (!isPlain(reason))
        return helped({ help: helpOf(form, '--reason must be one line without control characters'), code: 2 }, say)
      const signer = operatorSigner()
      const by = operatorName(line.options.by, signer)
      const signing = signer && { signer, line: proposedLine(line) }
      return change({ ...line, reason, by }, signing, say)
    },
    approve: async (approving, say) => {
      const signer = operatorSigner()
      if (!signer) throw new Error('OPERATORS is not set: set it as the services have it')
      const { line, reason, by } = approving
      return change({ ...line, reason, by }, { signer, line, approving }, say)
    },
  }
}

/** Returns an option as text. Undefined if it was not given. */
export const textOf = (option: CommandLine['options'][string]): string | undefined =>
  option === undefined ? undefined : String(option)

/** Throws what to do if a service does not answer a question that comes before the command. `perform` words later errors itself. */
export function unasked(cause: unknown): never {
  const isSilent = cause instanceof Unavailable || cause instanceof DeadlinePassed || cause instanceof Faulted
  if (!isSilent) throw cause
  throw new Error('a service has to be asked first, and did not answer: nothing was done. Run the same command again', {
    cause,
  })
}

function proposedLine({ words, options }: CommandLine): ProposedLine {
  const { reason: _, by: __, json: ___, ...own } = options
  return { words, options: own as ProposedLine['options'] }
}

function wordsOf(performed: Performed): string {
  if ('awaited' in performed) return `waiting: ${performed.awaited}`
  if ('refused' in performed) return `refused: ${performed.refused}`
  const { earlier } = performed
  if (!earlier) return performed.done
  const { by, at, reason } = earlier
  return `${performed.done} (already done by ${by}, ${at.toISOString()}, ${reason})`
}

export const among = (does: string, verbs: Readonly<Record<string, Verb>>): Verb => ({
  does,
  among: verbs,
  run: async ([name = '', ...words], say) => {
    if (Object.hasOwn(verbs, name)) return verbs[name]!.run(words, say)
    const lines = Object.entries(verbs).map(([one, verb]) => `  ${one.padEnd(10)} ${verb.does}`)
    const isHelp = asksForHelp([name])
    const wrong = isHelp || name === '' ? [] : [`error: unknown command: ${name}`]
    say(['subcommands:', ...lines, ...wrong].join('\n'))
    return isHelp ? 0 : 2
  },
})

/** Help text, with exit code 0 if it was asked for and 2 for wrong usage. */
type Help = { readonly help: string; readonly code: 0 | 2 }

function helped({ help, code }: Help, say: Say): number {
  say(help)
  return code
}

export const asksForHelp = (words: readonly string[]): boolean =>
  words.some((word) => word === '--help' || word === '-h')

function understood(words: string[], form: Form, common: ParseArgsOptionsConfig): CommandLine | Help {
  if (asksForHelp(words)) return { help: helpOf(form), code: 0 }
  const read = readWords(words, { ...form.options, ...common })
  const wrong = 'wrong' in read ? read.wrong : (countFault(form, read.words) ?? formFault(form, read))
  return wrong === undefined ? (read as CommandLine) : { help: helpOf(form, wrong), code: 2 }
}

function readWords(args: string[], options: ParseArgsOptionsConfig): CommandLine | { readonly wrong: string } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    return { words: positionals, options: values as CommandLine['options'] }
  } catch (error) {
    return { wrong: faultOf(error as Error) }
  }
}

function countFault({ takes = 0 }: Form, { length }: readonly string[]): string | undefined {
  const [least, most] = typeof takes === 'number' ? [takes, takes] : takes
  if (length >= least && length <= most) return undefined
  const wanted = least === most ? counted(least, 'argument') : `${least} to ${most} arguments`
  return `expected ${wanted}, got ${length}`
}

const formFault = ({ faultIn }: Form, { words, options }: CommandLine) =>
  options.csv && options.json ? 'choose one of --csv and --json' : faultIn?.(words, options)

const helpOf = ({ usage, does }: Form, wrong?: string): string =>
  [`usage: bun run ops ${usage}`, `  ${does}`, ...(wrong === undefined ? [] : [`error: ${wrong}`])].join('\n')

/** Formats JSON, with amounts (bigint) as strings. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one), 2)
