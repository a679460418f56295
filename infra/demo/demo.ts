import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import { personOf } from '#infra/demo/person'
import * as story from '#infra/demo/story'
import { openTimeline } from '#infra/demo/timeline'
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

async function tell(stack: StackFile): Promise<void> {
  const line = openTimeline()
  const person = personOf(stack, generatePrivateKey())
  const scene = { person, outside: outsideOf(stack), stack, line }
  await story.identityScene(scene)
  await story.topupScene(scene)
  await story.drawScene(scene)
  await new Promise((resolve) => setTimeout(resolve, 2_500)) // A cycle closed sooner would be too short to count.
  await story.settlementScene(scene)
  await story.drawScene(scene, '5. Draw again')
  await story.cashoutScene(scene)
  await story.recordScene(scene)
  console.log(`\nEvery step above is real: ${stack.gateway}/docs`)
}

const found = await running()
if (found) {
  await tell(found)
  process.exit(0)
}
console.log('No stack is running: booting one for this story.')
const stack = await bootStack({ dir: `${dir}-demo`, ports: 'free', durable: false })
try {
  await tell(stack.info)
} finally {
  await stack[Symbol.asyncDispose]()
}
process.exit(0)
