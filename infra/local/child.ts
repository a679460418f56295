import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { within } from '#platform/deadline'

export type Command = {
  name: string
  bin: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  logFile: string
  restMaxMs?: number | undefined
  /** User id of the child. Postgres refuses to run as root. */
  uid?: number
}

export type Child = {
  readonly pid: number
  readonly exited: Promise<string>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Sends `signal`, then SIGKILL after `withinMs`. */
  readonly end: (signal?: NodeJS.Signals, withinMs?: number) => Promise<void>
}

/** Path of setpriv, with which the kernel kills a child whose parent died, even by kill -9. */
const setpriv = Bun.which('setpriv')

export function startChild(command: Command): Child {
  const log = openSync(command.logFile, 'a')
  const [bin, args] = tied(command)
  const child = spawn(bin, args, {
    stdio: ['pipe', log, log],
    // The child has its own process group: Ctrl-C reaches only this process, which ends the others in order.
    detached: true,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/', TZ: 'UTC', ...command.env },
  })
  closeSync(log)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  const kill = (signal: NodeJS.Signals) => void child.kill(signal)
  return {
    pid: child.pid ?? -1,
    exited,
    kill,
    end: (signal = 'SIGTERM', withinMs = 6_000) => end(child, exited, signal, withinMs),
  }
}

export function tied({ bin, args, uid }: Pick<Command, 'bin' | 'args' | 'uid'>): [string, string[]] {
  if (!setpriv) return [bin, [...args]]
  const user = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups']
  return [setpriv, [...user, '--pdeathsig=KILL', '--', bin, ...args]]
}

async function end(child: ChildProcess, exited: Promise<string>, signal: NodeJS.Signals, withinMs: number) {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill(signal)
  await within(exited, withinMs, 'a process').catch(() => {
    child.kill('SIGKILL')
    return exited
  })
}
