import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { play } from '#infra/demo/play'
import { watchStack } from '#infra/demo/watch'
import { repositoryDir } from '#infra/local/folders'
import { bootStack } from '#infra/local/stack'
import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { bunRun } from '#infra/local/start/command'
import { adviceOn, usableDir } from '#infra/local/start/faults'
import { FolderTaken } from '#infra/local/start/folder-owner'
import { answers } from '#infra/local/start/running'
import { openStopping, whileStarting } from '#infra/local/start/stopping'
import { unlessStopped } from '#infra/local/wait'
import { readWords } from '#infra/local/words'

const usage = `usage: ${bunRun} demo

Plays a customer journey on the running stack, or on a temporary one. LOCAL_DIR=/path/to/folder names the stack's folder.`
readWords(usage, {})
const stopping = openStopping()
const dir = resolve(process.env.LOCAL_DIR || join(repositoryDir, '.local'))
const ownDir = `${dir}-demo`

async function running(): Promise<StackFile | undefined> {
  try {
    const file = readStackFile(dir)
    return (await answers(file)) ? file : undefined
  } catch {
    return undefined
  }
}

const tell = (stack: StackFile, at: string) =>
  unlessStopped(
    watchStack(stack, at, () => play(stack)),
    stopping.signal,
  )

async function inFolder(folder: string, work: () => Promise<void>): Promise<void> {
  let isOurs = !existsSync(folder)
  try {
    usableDir(folder, folder)
    await work()
  } catch (error) {
    if (error instanceof FolderTaken) isOurs = false // Another demo created the folder in the meantime.
    throw error
  } finally {
    if (isOurs) rmSync(folder, { recursive: true, force: true })
  }
}

async function playOnOwn(): Promise<void> {
  const { signal } = stopping
  await using stack = await whileStarting(stopping, (progress) =>
    bootStack({ dir: ownDir, ports: 'free', durable: false, progress, signal }),
  )
  await tell(stack.info, ownDir)
  if (!process.stdout.isTTY)
    return console.log(`Stopping the temporary stack; \`${bunRun} start\` runs one that stays.`)
  console.log('The stack keeps running until Ctrl-C.')
  await stopping.asked
}

async function demo(): Promise<void> {
  const found = await running()
  if (found) return tell(found, dir)
  console.log('No stack is running; starting a temporary one for the demo.')
  await inFolder(ownDir, playOnOwn)
}

try {
  await demo()
} catch (error) {
  if (stopping.signal.aborted) process.exit(130)
  console.error(`Demo failed: ${(error as Error).message}.`)
  const advice = adviceOn(error as Error, ownDir)
  if (advice) console.error(advice)
  process.exit(1)
}
process.exit(0)
