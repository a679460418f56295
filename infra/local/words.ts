import { type ParseArgsConfig, parseArgs } from 'node:util'
import { isStartedByNpm } from '#infra/local/starter'

type Env = Readonly<Record<string, string | undefined>>
type Words<T extends ParseArgsConfig> = ReturnType<typeof parseArgs<T>>

/** Prints `usage` and ends the process with exit code 0 if one of `words` is `--help`. */
export function helpIfAsked(words: readonly string[], usage: string): void {
  if (!words.some((word) => word === '--help' || word === '-h')) return
  console.log(usage)
  process.exit(0)
}

/** Ends the process with exit code 2. */
export function refuseWords(fault: string, usage: string): never {
  console.error(`${fault}\n\n${usage}`)
  process.exit(2)
}

/**
 * Reads the words of this process's command, or those in `config`, prints help, and refuses a word that `config` does not
 * allow.
 */
export function readWords<const T extends ParseArgsConfig>(usage: string, config: T): Words<T> {
  const args = [...(config.args ?? process.argv.slice(2))]
  helpIfAsked(args, usage)
  try {
    return parseArgs<T>({ ...config, args })
  } catch (error) {
    return refuseWords(faultOf(error as Error), usage)
  }
}

/** Returns what is wrong, from an error of `parseArgs`. Its rest explains how to pass such an option as an argument. */
export const faultOf = ({ message }: Error): string => message.split('. ')[0]!

/**
 * Returns a sentence about the first of the options `names` that npm took for itself, as it does before a `--`.
 * A program that ran without its `--dry-run` would do what its user has not asked for.
 */
export function takenByNpm(names: readonly string[], env: Env): string | undefined {
  const taken = names.find((name) => env[`npm_config_${name.replaceAll('-', '_')}`])
  if (taken === undefined || !isStartedByNpm(env)) return undefined
  const script = env.npm_lifecycle_event ?? 'start'
  return `npm took --${taken} for itself: write \`npm run ${script} -- --${taken}\``
}
