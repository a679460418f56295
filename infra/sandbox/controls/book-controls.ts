import { type Context, nowText, type SandboxContext } from '../context'
import { changeFaults, noFaults } from '../faults'
import { newId } from '../ids'
import type { JsonObject } from '../json'
import { bookBody, webhookBody } from './book-body'
import { type Control, Refusal } from './control'

export const bookControls = (context: SandboxContext): Control[] => [
  { method: 'GET', path: '/control/faults', run: () => context.faults },
  { method: 'POST', path: '/control/faults', run: (_id, body) => setFaults(context, body) },
  { method: 'DELETE', path: '/control/faults', run: () => setFaults(context, {}) },
  { method: 'POST', path: '/control/fees', run: (_id, body) => setFees(context, body) },
  { method: 'GET', path: '/control/book', run: () => bookBody(context) },
  {
    method: 'POST',
    path: '/control/webhooks/:id/resend',
    async run(id) {
      const webhook = await context.webhooks.resend(id)
      if (!webhook) throw new Refusal(404, 'no such webhook')
      return webhookBody(webhook)
    },
  },
]

/** Sets the fee of later movements. Earlier ones keep theirs. */
function setFees(context: Context, { bps }: JsonObject): unknown {
  if (typeof bps !== 'number' || !Number.isInteger(bps) || bps < 0 || bps > 10_000)
    throw new Refusal(400, 'bps must be a whole number from 0 to 10000')
  const tariff = { id: newId(context, 'tariff'), since: nowText(context), bps }
  return context.book.save('tariffs', tariff)
}

function setFaults(context: Context, change: JsonObject): unknown {
  const changed = changeFaults(context.faults, change)
  if ('wrong' in changed) throw new Refusal(400, changed.wrong.join('; '))
  context.faults = changed.faults
  if ('seed' in change || changed.faults === noFaults) context.chance.reseed(changed.faults.seed)
  return context.faults
}
