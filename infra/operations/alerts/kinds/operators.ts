import type { Alerts } from '../alert'

export const operators = {
  ApprovalAwaited: {
    severity: 'ticket',
    means: 'An operator proposed a command that gives away more than TWO_OPERATORS_ABOVE_AUSD.',
    steps:
      'Another operator looks at its target, then runs `approve <command>`, or closes it with `withdraw <command>`.',
    command: 'ops commands --proposed',
    ends: 'the command is approved, withdrawn, or a day old',
    access: ['ops'],
    inStatus: true,
  },
} as const satisfies Alerts
