import type { Command } from '#infra/local/child'
import { type Death, type Supervised, supervise } from '#infra/local/supervisor'

/** The processes of one stack, in the order they were started. */
export type Crew = {
  readonly add: (command: Command) => Supervised
  readonly get: (name: string) => Supervised
  readonly all: () => readonly Supervised[]
  /** Work to do when everything has ended: folders that would stay behind. */
  readonly afterwards: (work: () => void) => void
  /** Ends everything, last started first; services end together, before what they stand on. */
  readonly end: () => Promise<void>
}

export type CrewEvents = {
  onDeath: (death: Death) => void
  onStart: (name: string, pid: number) => void
}

/** Postgres ends at once on SIGINT ("fast"); on SIGTERM it would wait for its clients. */
const endingSignal = (name: string): NodeJS.Signals => (name === 'postgres' ? 'SIGINT' : 'SIGTERM')
const backbone = ['postgres', 'nats-server', 'chain']

export function gatherCrew(events: CrewEvents): Crew {
  const members = new Map<string, Supervised>()
  const last: (() => void)[] = []
  return {
    add: (command) => {
      const member = supervise(command, events)
      members.set(command.name, member)
      return member
    },
    get: (name) => {
      const member = members.get(name)
      if (!member) throw new Error(`${name} does not run in this stack`)
      return member
    },
    all: () => [...members.values()],
    afterwards: (work) => void last.push(work),
    end: async () => {
      const parts = [...members.values()]
      const services = parts.filter(({ name }) => !backbone.includes(name))
      const rest = parts.filter(({ name }) => backbone.includes(name))
      await Promise.all(services.map((member) => member.stop('SIGTERM')))
      await Promise.all(rest.map((member) => member.stop(endingSignal(member.name))))
      for (const work of last) work()
    },
  }
}
