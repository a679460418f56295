import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'

/** Named in no `config.ts`: no deployment sets it, only the crash suites do. */
const file = process.env.FAILPOINT_FILE

/** The only line of a failpoint file that kills nobody: all boundaries are noted below it. */
export const passedBoundaries = 'passed:'

/**
 * A named boundary between two steps, `<service>:<what was done last>`. The lines of the failpoint
 * file are boundaries, in the order in which they are to be met: whoever passes the first of them
 * takes its line out, removes the file with the last line, and is killed here, as a power cut would
 * kill it. Without the file, or at another boundary, this does nothing.
 */
export function failpoint(name: string): void {
  // Asked first, because the failure to read costs as much as a statement.
  if (file && existsSync(file) && isMet(file, name)) process.kill(process.pid, 'SIGKILL')
}

function isMet(path: string, name: string): boolean {
  try {
    const [first, ...later] = readFileSync(path, 'utf8').trim().split('\n')
    if (first === passedBoundaries) appendFileSync(path, `${name}\n`)
    if (first !== name) return false
    if (later.length === 0) unlinkSync(path)
    else {
      // Another process may read it at this moment: it never sees half a file.
      writeFileSync(`${path}.next`, `${later.join('\n')}\n`)
      renameSync(`${path}.next`, path)
    }
    return true
  } catch {
    return false
  }
}
