import { existsSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'

/** File of the boundaries, which is no part of any `config.ts` because only the crash tests set it. */
const file = process.env.FAILPOINT_FILE

/**
 * Marks a boundary between two steps, named `<service>:<last step done>`. The process that reaches the first boundary
 * of the file removes its line (or the file, if it was the last) and is killed, as in a power cut.
 */
export function failpoint(name: string): void {
  // A failed read costs as much as a database statement.
  if (file && existsSync(file) && isMet(file, name)) process.kill(process.pid, 'SIGKILL')
}

function isMet(path: string, name: string): boolean {
  try {
    const [first, ...later] = readFileSync(path, 'utf8').trim().split('\n')
    if (first !== name) return false
    if (later.length === 0) unlinkSync(path)
    else {
      // The file is renamed, so that another process never reads a partial one.
      writeFileSync(`${path}.next`, `${later.join('\n')}\n`)
      renameSync(`${path}.next`, path)
    }
    return true
  } catch {
    return false
  }
}
