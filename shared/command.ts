import { Misconfigured } from '#shared/config'
import { redactorOf, secretWordsOf } from '#shared/redaction'

/** Prints a text for the person who started the command, without what is secret. */
export type Say = (text: string) => void

/** An error and what it wraps, at most five deep. */
const causesMax = 5

/**
 * Runs what a person or a job starts on a command line, to its exit code: 0, what `work` answers, 2
 * when it was told wrongly, 1 when it failed. A failure is printed in words, and never left to the
 * runtime, which prints an error whole: errors of libraries quote URLs and keys wherever they
 * like, and what a command prints is pasted into tickets. `secrets` are values as the environment has them.
 */
export async function runCommand(
  secrets: () => readonly string[],
  work: (say: Say) => Promise<number | undefined> | Promise<void>,
): Promise<void> {
  let redact = (text: string) => text
  const fail = (error: unknown): number => {
    console.error(redact(wordsOf(error)))
    return error instanceof Misconfigured ? 2 : 1
  }
  for (const failure of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(failure, (error: unknown) => process.exit(fail(error)))
  }
  try {
    redact = redactorOf(secrets().flatMap(secretWordsOf))
    const code = await work((text) => console.log(redact(text)))
    process.exitCode = code ?? process.exitCode ?? 0
  } catch (error) {
    process.exitCode = fail(error)
  }
}

function wordsOf(error: unknown): string {
  const words: string[] = []
  for (let at = error; words.length < causesMax && at !== undefined; at = (at as Error).cause) {
    if (!(at instanceof Error)) return [...words, String(at)].join('\n  ')
    if (!words.some((known) => known.includes(wordOf(at as Error)))) words.push(wordOf(at))
  }
  return words.join('\n  because: ')
}

/** The kind where there are no words: some errors have only that. */
const wordOf = ({ message, name }: Error): string => message || name
