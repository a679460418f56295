import type { Field } from '#platform/config'
import { oneOf } from '#platform/config-fields'

/**
 * Worlds that never mix: `local` plays every provider in the sandbox, `test` uses the providers' test modes and the test
 * chain, and `live` moves real money. Keys, accounts, chain and terms of a deployment belong to one of them.
 */
export const deployments = ['local', 'test', 'live'] as const
export type Deployment = (typeof deployments)[number]

/** Reads another variable, unparsed. */
export type Other = ((name: string) => string | undefined) | undefined

export const deployment: Field<Deployment> = oneOf(deployments, {
  about:
    'local: sandbox on one machine; test: test modes and test chain; live: real money. Each setting must belong to it',
})

/** Returns the deployment that the other variables state, or undefined: DEPLOYMENT itself then has the fault. */
export const deploymentIn = (other: Other): Deployment | undefined =>
  deployments.find((one) => one === other?.('DEPLOYMENT'))

/** Returns a fault, which completes "<NAME> …", or undefined. */
export type Rule<T> = (value: T, other: Other) => string | undefined

/** Adds the rules of each deployment to a field. */
export const fitting = <T>(field: Field<T>, rules: { readonly [D in Deployment]?: Rule<T> }): Field<T> => ({
  ...field,
  parse: (raw, other) => {
    const value = field.parse(raw, other)
    const deployed = deploymentIn(other)
    const fault = deployed && rules[deployed]?.(value, other)
    if (fault) throw new Error(`${fault} (DEPLOYMENT=${deployed})`)
    return value
  },
})

/** The same rule in the deployments that others can reach. */
export const deployedRules = <T>(rule: Rule<T>) => ({ test: rule, live: rule })

const overTls: Rule<string> = (value) => (value.startsWith('https://') ? undefined : 'must begin with https://')

/** URL that must be HTTPS, except on one machine. */
export const publicUrl = (field: Field<string>): Field<string> => fitting(field, deployedRules(overTls))
