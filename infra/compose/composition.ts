import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { interpolate, readEnvFile, type Variables } from './interpolation'

export type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully'
export type Dependency = { condition: Condition; required?: boolean }

export type Service = {
  image: string
  pull_policy?: string
  build?: { context: string; dockerfile: string; target?: string }
  profiles?: string[]
  scale?: number
  user?: string
  read_only?: boolean
  tmpfs?: string[]
  cap_drop?: string[]
  cap_add?: string[]
  security_opt?: string[]
  restart?: string
  stop_grace_period?: string
  network_mode?: string
  networks?: string[]
  ports?: string[]
  volumes?: string[]
  secrets?: string[]
  entrypoint?: string[]
  command?: string[]
  mem_limit?: string
  memswap_limit?: string
  environment?: Record<string, string | null>
  healthcheck?: { test: string[] }
  depends_on?: Record<string, Dependency>
}
export type Composition = {
  name: string
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean }>
  volumes: Record<string, object>
  secrets?: Record<string, { file: string }>
}

export const infraDir = join(import.meta.dir, '..')

/** Leaves `${…}` as written. */
export const readComposition = (file: string): Composition =>
  Bun.YAML.parse(readFileSync(join(infraDir, file), 'utf8')) as Composition

export const deployment = (): Composition => readComposition('compose.yaml')
export const localStack = (): Composition => merged(deployment(), readComposition('compose/local.yaml'))

/**
 * Merges as compose does (compose-spec, chapter "Merge"): mappings by key, lists by appending
 * except commands; for other values the later file wins.
 */
export function merged(first: Composition, second: Partial<Composition>): Composition {
  const names = new Set([first, second].flatMap(({ services }) => Object.keys(services ?? {})))
  const services = [...names].map((name) => {
    const [under, over] = [first.services[name], second.services?.[name]]
    return [name, over ? { ...under, ...mergedKeys(under, over) } : under!] as const
  })
  return {
    ...first,
    services: Object.fromEntries(services) as Composition['services'],
    networks: { ...first.networks, ...second.networks },
    volumes: { ...first.volumes, ...second.volumes },
    secrets: { ...first.secrets, ...second.secrets },
  }
}

function mergedKeys(under: Service | undefined, over: Service): Service {
  const entries = Object.entries(over).map(([key, value]) => {
    const before = under?.[key as keyof Service]
    if (Array.isArray(value)) {
      const replaces = !Array.isArray(before) || key === 'command' || key === 'entrypoint'
      return [key, replaces ? value : [...before, ...value]]
    }
    return [key, value && typeof value === 'object' ? { ...(before as object), ...value } : value]
  })
  return Object.fromEntries(entries) as Service
}

export const localVariables = (): Variables => readEnvFile(readFileSync(join(infraDir, '.env'), 'utf8'))

export function activeServices({ services }: Composition, profiles: readonly string[]): Record<string, Service> {
  const active = Object.entries(services).filter(
    ([, { profiles: own, scale }]) => scale !== 0 && (!own || own.some((name) => profiles.includes(name))),
  )
  return Object.fromEntries(active)
}

/** A variable without a value is included only if it is set. */
export function environmentOf(service: Service, variables: Variables): Record<string, string> {
  const entries = Object.entries(service.environment ?? {}).flatMap(([name, value]) => {
    const given = value === null ? variables[name] : interpolate(value, variables)
    return given === undefined ? [] : [[name, given] as const]
  })
  return Object.fromEntries(entries)
}

export const wordsOf = (words: readonly string[] | undefined, variables: Variables): string[] =>
  (words ?? []).map((word) => interpolate(word, variables))
