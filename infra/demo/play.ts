import { generatePrivateKey } from 'viem/accounts'
import { outsideOf } from '#infra/demo/external'
import { personOf } from '#infra/demo/person'
import * as story from '#infra/demo/scenes'
import { openTimeline } from '#infra/demo/timeline'
import type { StackFile } from '#infra/local/stack-file'
import { pause } from '#platform/deadline'

export async function play(stack: StackFile, key = generatePrivateKey()): Promise<void> {
  const line = openTimeline()
  const person = personOf(stack, key)
  const scene = { person, outside: outsideOf(stack), stack, line }
  await story.identityScene(scene)
  await story.topupScene(scene)
  await story.drawScene(scene)
  // A cycle that closes sooner is too short to count.
  await line.during('owing the debt long enough for the cycle to count', pause(2_500))
  await story.settlementScene(scene)
  await story.drawScene(scene, '5. Draw again')
  await story.cashoutScene(scene)
  await story.recordScene(scene)
  console.log('\nEvery step above went through the real services, NATS, Postgres and a chain.')
  console.log(`Try it yourself: ${stack.gateway}/docs`)
}
