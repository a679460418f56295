import { changeFaults, noFaults } from '../faults'
import type { JsonObject } from '../route'
import type { World } from '../world'
import { bookBody, webhookBody } from './book-body'
import { type Control, Refusal } from './control'

/** Controls over the sandbox itself: its faults, its book, its webhooks. */
export const bookControls = (world: World): Control[] => [
  { method: 'GET', path: '/control/faults', run: () => world.faults },
  { method: 'POST', path: '/control/faults', run: (_id, body) => setFaults(world, body) },
  { method: 'DELETE', path: '/control/faults', run: () => setFaults(world, {}) },
  { method: 'GET', path: '/control/book', run: () => bookBody(world) },
  {
    method: 'POST',
    path: '/control/webhooks/:id/resend',
    async run(id) {
      const webhook = await world.webhooks.resend(id)
      if (!webhook) throw new Refusal(404, 'no such webhook')
      return webhookBody(webhook)
    },
  },
]

function setFaults(world: World, change: JsonObject): unknown {
  const changed = changeFaults(world.faults, change)
  if ('wrong' in changed) throw new Refusal(400, changed.wrong.join('; '))
  world.faults = changed.faults
  if ('seed' in change || changed.faults === noFaults) world.chance.reseed(changed.faults.seed)
  return world.faults
}
