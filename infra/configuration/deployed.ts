import type { Field } from '#platform/config'
import { processes } from './processes'
import { testnetValues } from './testnet'

/** Returns whether each deployment has its own value, because the field is a secret or has no default. */
const isOwn = ({ secret, fallback }: Field<unknown>): boolean => secret || fallback === undefined

/**
 * Returns the value of a setting in a deployment on the test chain. Returns undefined if the process does not read it, or
 * if each deployment has its own for some process, such as an address or a secret.
 */
export function deployedValue(process: string, setting: string): string | undefined {
  const field = processes[process]?.[setting]
  if (!field || Object.values(processes).some((fields) => fields[setting] && isOwn(fields[setting]))) return undefined
  return testnetValues.has(setting) ? testnetValues.get(setting) || undefined : field.fallback
}

/** Returns the values of a process in a deployment on the test chain that are not its defaults. */
export const proposedFor = (process: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(processes[process] ?? {}).flatMap(([setting, { fallback }]) => {
      const value = deployedValue(process, setting)
      return value === undefined || value === fallback ? [] : [[setting, value]]
    }),
  )
