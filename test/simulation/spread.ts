import { join } from 'node:path'

/** What a process says once it can be given something. */
export type Told = { readonly isReady: true }

/**
 * Gives tasks to so many processes, one after the other as each is done with its last. `next` answers
 * the next task, or undefined when there is none left. Resolves when all that were given are done.
 */
export async function spread<Task, Result>(options: {
  readonly workers: number
  readonly next: () => Task | undefined
  readonly onResult: (result: Result) => void
}): Promise<void> {
  const { workers, next, onResult } = options
  const work = async () => {
    let isOver = false
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'worker.ts')], {
      stdout: 'inherit',
      stderr: 'inherit',
      ipc: (told: Result | Told) => {
        if (!(told as Partial<Told>).isReady) onResult(told as Result)
        const task = next()
        if (task !== undefined) return child.send(task)
        isOver = true
        child.disconnect()
      },
    })
    const code = await child.exited
    if (!isOver) throw new Error(`a process of the simulation ended with ${code}`)
  }
  await Promise.all(Array.from({ length: workers }, work))
}
