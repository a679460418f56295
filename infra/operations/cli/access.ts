import { accesses } from '#infra/operations/alerts/alert'
import { reading } from '#infra/operations/cli/command'
import { localCommands } from '#infra/operations/cli/local-commands'
import { operatorRules } from '#infra/operations/cli/signer'
import { questions } from '#shared/messages/catalogue'
import { isOperatorCommand } from '#shared/messages/operator-commands'
import { moneyText } from '#shared/money/text'

/** Operators' commands, with what each may give away. */
const commands = () =>
  [...questions, ...localCommands]
    .filter(isOperatorCommand)
    .map(({ subject, owner, gives = 'money' }) => ({ subject, owner, gives }))

/** Command that shows who may do what, as this environment has it. */
export const access = reading({
  does: 'show the operators with their addresses, what each login may do, and which commands need two operators',
  usage: 'access [--json]',
  read: async () => {
    const { operators, aboveMicro } = operatorRules()
    const all = commands()
    const named = (gives: string) =>
      all.filter((one) => one.gives === gives).map(({ owner, subject }) => `  ${subject.padEnd(30)} ${owner}`)
    const above = moneyText(String(aboveMicro), 'AUSD')
    const text = [
      ...(operators.length > 0
        ? ['operators', ...operators.map(({ name, address }) => `  ${name.padEnd(30)} ${address}`)]
        : [
            'OPERATORS is none: commands carry a login name that nothing proves, and one operator performs each of them',
          ]),
      `two operators above ${above}, with what the same operator gave alone, or the same wallet got so, within 24 hours`,
      ...named('money'),
      'one operator',
      ...named('nothing'),
      'logins, which the operators share',
      ...Object.entries(accesses).map(([name, what]) => `  ${name.padEnd(30)} ${what}`),
    ].join('\n')
    return { text, data: { operators, aboveMicro, commands: all }, ok: true }
  },
})
