import { privateKeyToAccount } from 'viem/accounts'
import { runningStack } from '#infra/local/stack-file'
import { readConfig, variableIn } from '#platform/config'
import { orWord, privateKey } from '#platform/config-fields'
import { deploymentName, type OperatorRules, operatorRulesIn } from '#shared/operators/operators'

/** An operator with the key that proves it. */
export type Signer = {
  readonly name: string
  readonly rules: OperatorRules
  readonly sign: (text: string) => Promise<`0x${string}`>
}

const fields = {
  OPERATOR_KEY: {
    ...orWord('none', privateKey({ about: "an operator's own key, in the file that OPERATOR_KEY_FILE names" })),
    fallback: 'none',
  },
}

/** Returns the name of the deployment: from CHAIN_ID and CREDIT_LINE_ADDRESS, or of the running local stack. */
function operatorDeployment(env: NodeJS.ProcessEnv): string {
  if (!variableIn(env, 'DATABASE_OPS_URL')) {
    const { chain } = runningStack(env)
    return deploymentName(chain.chainId, chain.creditLine)
  }
  const need = (name: string): string => {
    const value = variableIn(env, name)
    if (!value) throw new Error(`OPERATORS is set: set ${name} too`)
    return value
  }
  return deploymentName(Number(need('CHAIN_ID')), need('CREDIT_LINE_ADDRESS'))
}

/** Reads who the operators are, and above which sum two are needed. */
export const operatorRules = (env: NodeJS.ProcessEnv = process.env): OperatorRules =>
  operatorRulesIn(env, () => operatorDeployment(env))

/**
 * Returns the operator whose key this is, or undefined if the deployment names no operators. Throws if the key is missing, or
 * is of no operator.
 */
export function operatorSigner(env: NodeJS.ProcessEnv = process.env): Signer | undefined {
  const rules = operatorRules(env)
  if (rules.operators.length === 0) return undefined
  const { operatorKey } = readConfig('ops', fields, env)
  if (operatorKey === 'none')
    throw new Error('OPERATORS is set, so an operator must sign: set OPERATOR_KEY_FILE to the file with your key')
  const account = privateKeyToAccount(operatorKey)
  const address = account.address.toLowerCase()
  const operator = rules.operators.find((one) => one.address === address)
  if (!operator)
    throw new Error(`the key in OPERATOR_KEY_FILE has the address ${address}, which OPERATORS does not name`)
  return { name: operator.name, rules, sign: (message) => account.signMessage({ message }) }
}
