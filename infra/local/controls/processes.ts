import type { Deed } from '#infra/local/controls/deed'
import type { Supervised } from '#infra/local/supervisor'

/** Killing a process of the stack, which its supervisor starts again. */
export function deedsOfProcesses(services: readonly Supervised[]): Deed[] {
  return [
    {
      ...{ group: 'Processes', name: 'kill', title: 'Kill a service' },
      confirm: 'The process ends at once, in the middle of whatever it does.',
      fields: [
        {
          ...{ name: 'service', label: 'Service' },
          choices: services.map(({ name, pid }) => ({
            value: name,
            label: `${name} (process ${pid()})`,
          })),
        },
      ],
      act: async ({ service }) => {
        services.find(({ name }) => name === service)?.kill('SIGKILL')
        return { said: `${service} was killed; its supervisor starts another.` }
      },
    },
  ]
}
