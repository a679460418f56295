import { readFileSync } from 'node:fs'

const parentOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return -1
  }
}

/** Each names itself to what it starts; under npx, `bun run` leaves npm's name as it is (1.4.5). */
export const isStartedByNpm = (env: Readonly<Record<string, string | undefined>>): boolean =>
  env.npm_config_user_agent?.startsWith('npm/') ?? false

/**
 * Calls back when whoever started us is gone without a word. A signal that ends `npx` alone leaves
 * its `bun run` behind, so there the starter's own parent counts too; a shell that started
 * `bun run` directly may go away, as with nohup.
 */
export function watchStarter(gone: () => void): void {
  const parent = process.ppid
  const grandparent = isStartedByNpm(process.env) ? parentOf(parent) : undefined
  const there = () =>
    process.ppid === parent && (grandparent === undefined || parentOf(parent) === grandparent)
  setInterval(() => there() || gone(), 1_000).unref()
}
