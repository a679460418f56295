import { join } from 'node:path'
import { play } from '#infra/demo/play'
import { repositoryDir } from '#infra/local/folders'
import { bootStack } from '#infra/local/stack'
import { readStackFile, type StackFile } from '#infra/local/stack-file'

/** `bun run demo`: the whole story on the running stack, or on one of its own. */
const dir = process.env.LOCAL_DIR ?? join(repositoryDir, '.local')

async function running(): Promise<StackFile | undefined> {
  try {
    const file = readStackFile(dir)
    return (await fetch(`${file.gateway}/health`, { signal: AbortSignal.timeout(1_000) })).ok
      ? file
      : undefined
  } catch {
    return undefined
  }
}

const found = await running()
if (found) {
  await play(found)
  process.exit(0)
}
console.log('No stack is running: booting one for this story.')
const stack = await bootStack({ dir: `${dir}-demo`, ports: 'free', durable: false })
try {
  await play(stack.info)
} finally {
  await stack[Symbol.asyncDispose]()
}
process.exit(0)
