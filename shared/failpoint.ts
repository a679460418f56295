import { readFileSync, unlinkSync } from 'node:fs'

/** Named in no `config.ts`: no deployment sets it, only the crash suites do. */
const file = process.env.FAILPOINT_FILE

/**
 * A named boundary between two steps. When the crash suite has written this name into the failpoint
 * file, the process is killed here, once, as a power cut would; otherwise this does nothing.
 */
export function failpoint(name: string): void {
  if (!file) return
  try {
    if (readFileSync(file, 'utf8').trim() !== name) return
    unlinkSync(file)
  } catch {
    return
  }
  process.kill(process.pid, 'SIGKILL')
}
