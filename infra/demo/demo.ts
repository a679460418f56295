import { join } from 'node:path'
import { play } from '#infra/demo/play'
import { repositoryDir } from '#infra/local/folders'
import { bootStack } from '#infra/local/stack'
import { readStackFile, type StackFile } from '#infra/local/stack-file'
import { adviceOn, usableDir } from '#infra/local/start/faults'
import { openProgress } from '#infra/local/start/progress'
import { answers } from '#infra/local/start/running'

/** `bun run demo`: the whole story on the running stack, or on one of its own. */
async function running(dir: string): Promise<StackFile | undefined> {
  try {
    const file = readStackFile(dir)
    return (await answers(file)) ? file : undefined
  } catch {
    return undefined
  }
}

async function bootOwn(dir: string) {
  using progress = openProgress()
  return await bootStack({ dir, ports: 'free', durable: false, progress })
}

const usual = join(repositoryDir, '.local')

async function demo(): Promise<void> {
  const dir = usableDir(process.env.LOCAL_DIR, usual)
  const found = await running(dir)
  if (found) return play(found)
  console.log('No stack is running: booting one for this story.')
  await using stack = await bootOwn(`${dir}-demo`)
  await play(stack.info)
  const ended = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ended.resolve)
  if (!process.stdout.isTTY) return console.log('Its stack ends here; `bun run start` keeps one.')
  console.log('Its stack stays until Ctrl-C.')
  await ended.promise
}

try {
  await demo()
} catch (error) {
  console.error(`The demo did not end well: ${(error as Error).message}`)
  const advice = adviceOn(error as Error, usual)
  if (advice) console.error(advice)
  process.exit(1)
}
process.exit(0)
