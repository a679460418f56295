import { type ConfigOf, type Field, readConfig } from '#platform/config'
import { address, amount, listOrNone } from '#platform/config-fields'
import { chainIdField } from '#shared/chain/chain-id'

/** An operator: the name in the audit log, and the address of the key that proves it, in lower case. */
export type NamedOperator = { readonly name: string; readonly address: `0x${string}` }

const operatorForm = /^([a-z0-9][a-z0-9._-]{0,39}):(0x[0-9a-fA-F]{40})$/

/** Parses `alice:0x…,bob:0x…`. One operator alone is a fault, because nobody could approve what needs two. */
const operatorsField = (): Field<readonly NamedOperator[]> => {
  const items = listOrNone({
    about:
      'operators, as name:address, comma-separated; each command then needs the signature of one of them, and of a second one ' +
      'above TWO_OPERATORS_ABOVE_AUSD. none: commands carry a login name that nothing proves',
    fallback: 'none',
  })
  return {
    ...items,
    type: 'name:address list | none',
    parse: (raw) => {
      const operators = items.parse(raw).map((item) => {
        const [, name, address] = operatorForm.exec(item) ?? []
        if (!name || !address) throw new Error('must be name:address, comma-separated, with names in lower case')
        return { name, address: address.toLowerCase() as `0x${string}` }
      })
      if (operators.length === 1) throw new Error('must name at least two operators, or none')
      if (new Set(operators.map(({ name }) => name)).size < operators.length)
        throw new Error('must not name an operator twice')
      if (new Set(operators.map(({ address }) => address)).size < operators.length)
        throw new Error('must not give two operators the same address: one of them would approve for both')
      return operators
    },
  }
}

/** Settings of a process that carries out operators' commands. Chain and credit line name the deployment. */
export const operatorFields = {
  OPERATORS: operatorsField(),
  TWO_OPERATORS_ABOVE_AUSD: amount({
    least: 0n,
    most: 10n ** 12n,
    about:
      'sum above which a command that gives money away needs a second operator, with what the same operator gave alone, or the ' +
      'same wallet got so, within 24 hours (whole AUSD); each service counts its own commands',
    fallback: '100',
  }),
  CHAIN_ID: chainIdField,
  CREDIT_LINE_ADDRESS: address({
    about: 'credit line; deploy: the recorded one, or a new one',
  }),
}

/** Operators, the sum above which two are needed (10⁻⁶ AUSD), and the name of the deployment in what they sign. */
export type OperatorRules = {
  readonly operators: readonly NamedOperator[]
  readonly aboveMicro: bigint
  readonly deployment: string
}

type OperatorConfig = ConfigOf<typeof operatorFields>

export const operatorRules = ({
  operators,
  twoOperatorsAboveAusd,
  chainId,
  creditLineAddress,
}: OperatorConfig): OperatorRules => ({
  operators,
  aboveMicro: twoOperatorsAboveAusd * 1_000_000n,
  deployment: deploymentName(chainId, creditLineAddress),
})

/** Returns the name of a deployment, of which no other has the chain and the credit line. */
export const deploymentName = (chainId: number, creditLine: string): string => `${chainId}:${creditLine.toLowerCase()}`

/** Reads the rules from the environment of a command. `place` is the deployment unless the environment names it. */
export function operatorRulesIn(env: NodeJS.ProcessEnv, deployment: () => string): OperatorRules {
  const { OPERATORS, TWO_OPERATORS_ABOVE_AUSD } = operatorFields
  const { operators, twoOperatorsAboveAusd } = readConfig('ops', { OPERATORS, TWO_OPERATORS_ABOVE_AUSD }, env)
  return {
    operators,
    aboveMicro: twoOperatorsAboveAusd * 1_000_000n,
    deployment: operators.length > 0 ? deployment() : '',
  }
}
