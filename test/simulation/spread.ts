import { join } from 'node:path'

export type Ready = { readonly isReady: true }

/** Spreads tasks over workers; `next` returns undefined when no task is left. */
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
      ipc: (told: Result | Ready) => {
        if (!(told as Partial<Ready>).isReady) onResult(told as Result)
        const task = next()
        if (task !== undefined) return child.send(task)
        isOver = true
        child.disconnect()
      },
    })
    const code = await child.exited
    if (!isOver) throw new Error(`a worker of the simulation exited with code ${code}`)
  }
  await Promise.all(Array.from({ length: workers }, work))
}
