import { readFileSync } from 'node:fs'
import { isPublicSecret } from '#shared/public-secrets'

/** One variable: how it is read, what stands in for it, and what a person needs to know of it. */
export type Field<T> = {
  readonly type: string
  readonly about: string
  readonly secret: boolean
  readonly fallback?: string
  /**
   * Throws an `Error` whose message completes the sentence "<NAME> …". `other` reads another
   * variable as it stands, for a value that is right or wrong only beside it.
   */
  readonly parse: (raw: string, other?: (name: string) => string | undefined) => T
}
export type Fields = Readonly<Record<string, Field<unknown>>>
/** The configuration under camelCase names: `DATABASE_URL` becomes `databaseUrl`. */
export type ConfigOf<F extends Fields> = {
  readonly [K in keyof F & string as Camel<K>]: ReturnType<F[K]['parse']>
}
type Camel<S extends string> = S extends `${infer A}_${infer B}`
  ? `${Lowercase<A>}${Capitalize<Camel<B>>}`
  : Lowercase<S>
export type Environment = Readonly<Record<string, string | undefined>>

/** Configuration that is wrong: every fault in one message. */
export class Misconfigured extends Error {
  override name = 'Misconfigured'
}

/**
 * Reads the environment whole and early. A value may stand in a file named by `<NAME>_FILE`, as
 * compose secrets do. Throws `Misconfigured` naming every fault; never prints a value. A secret that
 * stands in the repository is a fault, unless PUBLIC_SECRETS=allowed, as in a stack on this machine.
 */
export function readConfig<F extends Fields>(
  service: string,
  fields: F,
  env: Environment = process.env,
): ConfigOf<F> {
  const faults: string[] = []
  const config: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    try {
      const raw = rawOf(name, env) ?? field.fallback
      if (raw === undefined) throw new Error(`is missing: ${field.about}`)
      if (field.secret && isPublicSecret(raw) && env.PUBLIC_SECRETS !== 'allowed')
        throw new Error('is public, it stands in the repository: make one of your own')
      config[camel(name)] = field.parse(raw, (other) => rawOf(other, env))
    } catch (fault) {
      faults.push(`${name} ${(fault as Error).message}`)
    }
  }
  if (faults.length > 0)
    throw new Misconfigured(`${service} is misconfigured\n  ${faults.join('\n  ')}`)
  return config as ConfigOf<F>
}

/** The values of the secret fields as they stand: what no log line may show. */
export const secretsOf = (fields: Fields, env: Environment = process.env): string[] =>
  Object.entries(fields)
    .filter(([, { secret }]) => secret)
    .flatMap(([name]) => rawOf(name, env) ?? [])

function rawOf(name: string, env: Environment): string | undefined {
  const direct = env[name]
  const file = env[`${name}_FILE`]
  if (direct && file) throw new Error(`is set twice, directly and by ${name}_FILE`)
  if (!file) return direct === '' ? undefined : direct
  try {
    return readFileSync(file, 'utf8').trimEnd()
  } catch {
    throw new Error(`cannot be read from the file that ${name}_FILE names`)
  }
}

const camel = (name: string) =>
  name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
