import type { ControlAction } from '#infra/local/controls/action'
import type { Supervised } from '#infra/local/supervisor'

export function processActions(services: readonly Supervised[]): ControlAction[] {
  return [
    {
      group: 'Processes',
      name: 'kill',
      title: 'Kill a service',
      confirm: 'The process is killed at once, in the middle of its work.',
      fields: [
        {
          name: 'service',
          label: 'Service',
          choices: services.map(({ name, pid }) => ({
            value: name,
            label: `${name} (process ${pid()})`,
          })),
        },
      ],
      act: async ({ service }) => {
        services.find(({ name }) => name === service)?.kill('SIGKILL')
        return { said: `${service} was killed and is being restarted.` }
      },
    },
  ]
}
