import type { Command } from '#infra/local/child'
import { type ProcessDeath, type Supervised, supervise } from '#infra/local/supervisor'
import { Hopeless, waitUntil } from '#infra/local/wait'

export type Processes = {
  readonly add: (command: Command) => Supervised
  readonly get: (name: string) => Supervised
  readonly all: () => readonly Supervised[]
  /** Plans work after everything has ended. */
  readonly afterwards: (work: () => void) => void
  /** Ends the services together, then Postgres, NATS and the chain. Nothing can be added afterwards. */
  readonly end: () => Promise<void>
  /** Polls until `ask` returns true. Throws `Hopeless` once the stack is ending. */
  readonly until: (what: string, ask: () => Promise<boolean>, deadlineMs?: number) => Promise<void>
}

export type ProcessEvents = {
  onDeath: (death: ProcessDeath) => void
  onStart: (name: string, pid: number) => void
}

/**
 * Returns the signal that ends a process. Postgres ends at once on SIGINT ("fast"); on SIGTERM it waits for its
 * clients.
 */
const endingSignal = (name: string): NodeJS.Signals => (name === 'postgres' ? 'SIGINT' : 'SIGTERM')
const backbone = ['postgres', 'nats-server', 'chain']

export function openProcesses(events: ProcessEvents): Processes {
  const byName = new Map<string, Supervised>()
  const last: (() => void)[] = []
  let ended: Promise<void> | undefined
  const end = async () => {
    const all = [...byName.values()]
    const services = all.filter(({ name }) => !backbone.includes(name))
    const rest = all.filter(({ name }) => backbone.includes(name))
    await Promise.all(services.map((one) => one.stop('SIGTERM')))
    await Promise.all(rest.map((one) => one.stop(endingSignal(one.name))))
    for (const work of last) work()
  }
  return {
    add: (command) => {
      if (ended) throw new Hopeless(`cannot start ${command.name}: the stack is stopping`)
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
    until: async (what, ask, deadlineMs) => {
      const asked = () => {
        if (ended) throw new Hopeless(`stopped waiting for ${what}: the stack is stopping`)
        return ask()
      }
      await waitUntil(what, asked, deadlineMs)
    },
    afterwards: (work) => void last.push(work),
    end: () => {
      ended ??= end()
      return ended
    },
  }
}
