import { readFileSync } from 'node:fs'
import { isPublicSecret } from '#platform/public-secrets'

export type Range = { readonly least: number | bigint; readonly most: number | bigint }

export type Field<T> = {
  readonly type: string
  readonly about: string
  readonly secret: boolean
  readonly fallback?: string
  /** Least and greatest value of a number. */
  readonly range?: Range
  /** An empty value is a fault instead of the fallback, which switches a check off. */
  readonly emptyIsFault?: true
  /** Parses a value. The message of its `Error` completes "<NAME> …". `other` reads another variable, unparsed. */
  readonly parse: (raw: string, other?: (name: string) => string | undefined) => T
}
export type Fields = Readonly<Record<string, Field<unknown>>>
/** Values by field: `DATABASE_URL` becomes `databaseUrl`. */
export type ConfigOf<F extends Fields> = {
  readonly [K in keyof F & string as Camel<K>]: ReturnType<F[K]['parse']>
}
type Camel<S extends string> = S extends `${infer A}_${infer B}`
  ? `${Lowercase<A>}${Capitalize<Camel<B>>}`
  : Lowercase<S>
export type Environment = Readonly<Record<string, string | undefined>>

/** Error whose message lists every fault of the configuration. */
export class Misconfigured extends Error {
  override name = 'Misconfigured'
}

/**
 * Reads the configuration. A value may be in a file named by `<NAME>_FILE`, as compose secrets are. Throws
 * `Misconfigured`, without values. A secret published in this repository is a fault, unless `mayBePublic`.
 */
export function readConfig<F extends Fields>(service: string, fields: F, env: Environment = process.env): ConfigOf<F> {
  const faults: string[] = []
  const config: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    try {
      const given = rawOf(name, env)
      if (given === undefined && field.emptyIsFault && (name in env || `${name}_FILE` in env))
        throw new Error(`is empty: ${field.about}. Without this check, write ${field.fallback}`)
      const raw = given ?? field.fallback
      if (raw === undefined) throw new Error(`is not set: ${field.about}`)
      if (field.secret && isPublicSecret(raw) && !mayBePublic(env))
        throw new Error('is public: it is published in this repository. Generate your own')
      config[camel(name)] = field.parse(raw, (other) => rawOf(other, env))
    } catch (fault) {
      faults.push(`${name} ${(fault as Error).message}`)
    }
  }
  if (faults.length > 0) throw new Misconfigured(`${service}: invalid configuration\n  ${faults.join('\n  ')}`)
  return config as ConfigOf<F>
}

/** Returns true if public secrets are allowed, which they never are in a deployment that others can reach. */
export const mayBePublic = ({ PUBLIC_SECRETS, DEPLOYMENT }: Environment): boolean =>
  PUBLIC_SECRETS === 'allowed' && DEPLOYMENT !== 'test' && DEPLOYMENT !== 'live'

/** Reads a variable that decides which others are read. */
export function variableIn(env: Environment, name: string): string | undefined {
  try {
    return rawOf(name, env)
  } catch (fault) {
    throw new Misconfigured(`${name} ${(fault as Error).message}`)
  }
}

/** Returns the raw values that must not appear in any log line. */
export const secretsOf = (fields: Fields, env: Environment = process.env): string[] =>
  Object.entries(fields)
    .filter(([, { secret }]) => secret)
    .flatMap(([name]) => rawOf(name, env) ?? [])

function rawOf(name: string, env: Environment): string | undefined {
  const direct = env[name]
  const file = env[`${name}_FILE`]
  if (direct && file) throw new Error(`is set twice: directly and by ${name}_FILE. Unset one`)
  // A secret of Kubernetes often ends with the line break of the program that wrote it.
  if (!file) return direct?.trimEnd() || undefined
  try {
    return readFileSync(file, 'utf8').trimEnd() || undefined
  } catch {
    throw new Error(`cannot be read: check the file named by ${name}_FILE`)
  }
}

const camel = (name: string) => name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
