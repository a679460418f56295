import { generatePrivateKey } from 'viem/accounts'
import { outsideOf } from '#infra/demo/outside'
import { personOf } from '#infra/demo/person'
import * as story from '#infra/demo/story'
import { openTimeline } from '#infra/demo/timeline'
import type { StackFile } from '#infra/local/stack-file'
import { pause } from '#shared/deadline'

/** The whole story of a new person on a running stack, told as it happens. */
export async function play(stack: StackFile): Promise<void> {
  const line = openTimeline()
  const person = personOf(stack, generatePrivateKey())
  const scene = { person, outside: outsideOf(stack), stack, line }
  await story.identityScene(scene)
  await story.topupScene(scene)
  await story.drawScene(scene)
  // A cycle closed sooner would be too short to count.
  await line.during('a moment of debt, for the record', pause(2_500))
  await story.settlementScene(scene)
  await story.drawScene(scene, '5. Draw again')
  await story.cashoutScene(scene)
  await story.recordScene(scene)
  console.log('\nEvery step above went through the real services, NATS, Postgres and a chain.')
  console.log(`Try it yourself: ${stack.gateway}/docs`)
}
