import { Misconfigured } from '#platform/config'
import { redactorOf, secretWordsOf } from '#platform/redaction'

/** Prints a text without secrets. An `error` goes to the error output, which a pipe into a file leaves on the screen. */
export type Say = (text: string, channel?: 'error') => void

const causesMax = 5

/**
 * Runs a command and sets its exit code: 0 or the result of `work`, 2 for wrong usage or configuration, 1 for a
 * failure. The runtime would print the whole error, in which libraries quote URLs and keys. `secrets` are values as in
 * the environment.
 */
export async function runCommand(
  secrets: () => readonly string[],
  work: (say: Say) => Promise<number | undefined> | Promise<void>,
): Promise<void> {
  let redact = (text: string) => text
  const fail = (error: unknown): number => {
    const { code, text } = failureOf(error)
    console.error(shown(redact(text)))
    return code
  }
  for (const failure of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(failure, (error: unknown) => process.exit(fail(error)))
  }
  try {
    redact = redactorOf(secrets().flatMap(secretWordsOf))
    const code = await work((text, channel) => console[channel ?? 'log'](shown(redact(text))))
    process.exitCode = code ?? process.exitCode ?? 0
  } catch (error) {
    process.exitCode = fail(error)
  }
}

/** Writes characters that a terminal obeys as codes. */
const shown = (text: string): string =>
  text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are the ones
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

export const failureOf = (error: unknown) => ({
  code: error instanceof Misconfigured ? 2 : 1,
  text: wordsOf(error),
})

function wordsOf(error: unknown): string {
  const words: string[] = []
  for (let at = error; words.length < causesMax && at !== undefined; at = (at as Error).cause) {
    if (!(at instanceof Error)) return [...words, String(at)].join('\n  ')
    if (!words.some((known) => known.includes(wordOf(at as Error)))) words.push(wordOf(at))
  }
  return words.join('\n  caused by: ')
}

const wordOf = ({ message, name }: Error): string => message || name
