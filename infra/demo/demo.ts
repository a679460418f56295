import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { play } from '#infra/demo/play'
import { watchStack } from '#infra/demo/watch'
import { repositoryDir } from '#infra/local/folders'
import { bootStack } from '#infra/local/stack'
import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { bunRun } from '#infra/local/start/command'
import { adviceOn, failureText, StartFault, usableDir } from '#infra/local/start/faults'
import { FolderTaken } from '#infra/local/start/folder-owner'
import { answers } from '#infra/local/start/running'
import { openStopping, whileStarting } from '#infra/local/start/stopping'
import { unlessStopped } from '#infra/local/wait'
import { readWords } from '#infra/local/words'

const usage = `usage: ${bunRun} demo [--own]
Plays a customer journey on the stack in LOCAL_DIR or, without it, on the one of \`${bunRun} start\`.
  --own   on a temporary stack instead, as when none runs`
const { values } = readWords(usage, { options: { own: { type: 'boolean' } } })
const stopping = openStopping()
const dir = resolve(process.env.LOCAL_DIR || join(repositoryDir, '.local'))
const ownDir = `${dir}-demo`

/**
 * Returns the running stack, or undefined to play on a temporary one. Throws `StartFault` if LOCAL_DIR names a
 * folder without a stack that responds.
 */
async function chosenStack(): Promise<StackFile | undefined> {
  if (values.own) return undefined
  try {
    const file = readStackFile(dir)
    if (await answers(file)) return file
    throw new Error(`the stack in ${dir} does not respond at ${file.gateway}`)
  } catch (error) {
    if (!process.env.LOCAL_DIR) return undefined
    throw new StartFault((error as Error).message, 'Without LOCAL_DIR, the demo starts a temporary stack.')
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

/** Folder of the stack on which the demo is played. */
let playedIn = ownDir

async function demo(): Promise<void> {
  const stack = await chosenStack()
  if (stack) {
    playedIn = dir
    console.log(`Playing on the stack in ${dir}, at ${stack.gateway}.`)
    return tell(stack, dir)
  }
  console.log(`Starting a temporary stack in ${ownDir} for the demo.`)
  await inFolder(ownDir, playOnOwn)
}

try {
  await demo()
} catch (error) {
  if (stopping.signal.aborted) process.exit(130)
  console.error(failureText('Demo', error as Error))
  const advice = adviceOn(error as Error, playedIn)
  if (advice) console.error(advice)
  process.exit(1)
}
process.exit(0)
