import type { Command } from '#infra/local/child'
import { type Death, type Supervised, supervise } from '#infra/local/supervisor'

/** The processes of one stack, in the order they were started. */
export type Processes = {
  readonly add: (command: Command) => Supervised
  readonly get: (name: string) => Supervised
  readonly all: () => readonly Supervised[]
  /** Work to do when everything has ended: folders that would stay behind. */
  readonly afterwards: (work: () => void) => void
  /** Ends everything, last started first; services end together, before what they run on. */
  readonly end: () => Promise<void>
}

export type ProcessEvents = {
  onDeath: (death: Death) => void
  onStart: (name: string, pid: number) => void
}

/** Postgres ends at once on SIGINT ("fast"); on SIGTERM it would wait for its clients. */
const endingSignal = (name: string): NodeJS.Signals => (name === 'postgres' ? 'SIGINT' : 'SIGTERM')
const backbone = ['postgres', 'nats-server', 'chain']

export function openProcesses(events: ProcessEvents): Processes {
  const byName = new Map<string, Supervised>()
  const last: (() => void)[] = []
  return {
    add: (command) => {
      const one = supervise(command, events)
      byName.set(command.name, one)
      return one
    },
    get: (name) => {
      const one = byName.get(name)
      if (!one) throw new Error(`${name} does not run in this stack`)
      return one
    },
    all: () => [...byName.values()],
    afterwards: (work) => void last.push(work),
    end: async () => {
      const all = [...byName.values()]
      const services = all.filter(({ name }) => !backbone.includes(name))
      const rest = all.filter(({ name }) => backbone.includes(name))
      await Promise.all(services.map((one) => one.stop('SIGTERM')))
      await Promise.all(rest.map((one) => one.stop(endingSignal(one.name))))
      for (const work of last) work()
    },
  }
}
