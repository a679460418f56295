import { readdirSync, readFileSync } from 'node:fs'

type Process = { readonly pid: number; readonly parent: number; readonly command: string }

function processes(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const status = readFileSync(`/proc/${name}/status`, 'utf8')
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
        const parent = Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1])
        return [{ pid: Number(name), parent, command }]
      } catch {
        return []
      }
    })
}

/** Returns the ids of the processes below `pid` whose command matches. */
export function below(pid: number, command: RegExp): number[] {
  const all = processes()
  const find = (parent: number): Process[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...find(one.pid)])
  return find(pid).flatMap((one) => (command.test(one.command) ? [one.pid] : []))
}

/** Returns whether the process is the engine that listens on this socket: its id may belong to another one by now. */
export const isEngine = (pid: number, socket: string): boolean =>
  processes().some((one) => one.pid === pid && one.command.includes('dockerd') && one.command.includes(socket))

const isShim = ({ command }: Process) => /containerd-shim-\S+ .*-namespace moby /.test(command)
const isContainerd = ({ command }: Process) => /containerd --config \S*docker\//.test(command)

/**
 * Killing only the engine would leave containers running, each below its own shim. Killing a
 * container's first process ends the others.
 */
export function cutPower(): void {
  const all = processes()
  const shims = all.filter(isShim)
  const inContainers = all.filter(({ parent }) => shims.some(({ pid }) => pid === parent))
  for (const { pid } of [...all.filter(isContainerd), ...inContainers, ...shims]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
}

export const links = (): string[] =>
  readdirSync('/sys/class/net').filter((name) => /^(docker0|br-[0-9a-f]{12}|veth[0-9a-f]{7})$/.test(name))

/** Returns the firewall, as iptables-save prints it, without the engine's chains and rules, which block forwarded traffic. */
export const withoutEngine = (saved: string): string =>
  saved
    .split('\n')
    .filter((line) => !/\b(DOCKER|docker0|br-[0-9a-f]{12})\b/.test(line))
    .map((line) => line.replace(/^:FORWARD DROP /, ':FORWARD ACCEPT '))
    .join('\n')
