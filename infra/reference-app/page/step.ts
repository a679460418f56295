import { BaseError, ContractFunctionRevertedError } from 'viem'
import { pause } from '#platform/deadline'
import { type Answered, okOf, Refused, Unanswered } from '#shared/client/client'
import type { App } from './app'
import { NoGas, NotDone } from './chain'
import { fill, h, InvalidField } from './dom'
import { type ChainOrder, type Order, OrderOpen, submit } from './orders'
import type { Texts } from './texts/english'

type Tone = 'good' | 'bad' | 'quiet'
/** Shows how far a step is; the place is a live region that screen readers speak. */
export type Say = (text: string, tone?: Tone) => void
/** Result of a step: a text, which is good news unless it has another tone, or nothing to add. */
export type Outcome = string | undefined | { readonly text: string; readonly tone: Tone }

/** Explains why a step did not succeed. A refusal is shown in the gateway's own words. */
export function faultText(t: Texts, error: unknown): string {
  if (error instanceof Refused) return error.refusal.message
  if (error instanceof InvalidField) return t.checkForm
  if (error instanceof NoGas) return t.noGas
  if (error instanceof NotDone) return t.notDone
  if (error instanceof OrderOpen) return t.orderOpen
  if (error instanceof BaseError) {
    const reverted = error.walk((one) => one instanceof ContractFunctionRevertedError)
    const name = (reverted as ContractFunctionRevertedError | null)?.data?.errorName
    return name ? t.reverted(name) : error.shortMessage
  }
  return error instanceof Unanswered ? t.noAnswer : String(error)
}

/**
 * A form with one button and the place of its result. While a step runs, the button keeps the focus and does
 * nothing. `run` may say how far it is, and returns the final text, or nothing.
 */
export function step(
  app: App,
  label: string,
  fields: readonly (HTMLElement | undefined)[],
  run: (say: Say) => Promise<Outcome>,
  look = 'main',
) {
  const { t } = app
  const result = h('p', { class: 'result', role: 'status' })
  const button = h('button', { class: look }, label)
  const say: Say = (text, tone = 'quiet') => {
    result.dataset.tone = tone
    if (result.textContent !== text) result.textContent = text
  }
  let isBusy = false
  const start = async (work: typeof run): Promise<void> => {
    if (isBusy) return
    isBusy = true
    button.setAttribute('aria-disabled', 'true')
    say(t.working)
    try {
      const outcome = await work(say)
      if (typeof outcome === 'object') say(outcome.text, outcome.tone)
      else say(outcome ?? '', 'good')
    } catch (error) {
      say(faultText(t, error), 'bad')
    }
    isBusy = false
    button.removeAttribute('aria-disabled')
    app.refresh()
  }
  const submitted = (event: Event) => {
    event.preventDefault()
    void start(run)
  }
  const element = h('form', { novalidate: true, submit: submitted }, fields, button, result)
  return { element, start, say }
}

/** Pause before an order without an answer is sent again. */
const againMs = 5_000

/** Repeats `attempt` for as long as its order is stored, which is until its outcome is certain. */
async function untilCertain<T>(
  { t, orders }: App,
  order: Order | ChainOrder,
  say: Say,
  attempt: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof OrderOpen || orders.get(order.kind) === undefined) throw error
      say(t.unknown, 'bad')
      await pause(againMs)
    }
  }
}

/** Places an order and returns the id of its item. The order is stored before it is sent. */
export const place = (app: App, order: Order, say: Say): Promise<string> =>
  untilCertain(app, order, say, async () =>
    okOf(await submit(app.orders, order, (one) => send(app, one))),
  )

/** Sends a signed transaction and waits until it is in a block. */
export const transact = (app: App, order: ChainOrder, say: Say): Promise<void> =>
  untilCertain(app, order, say, () => app.chain.finish(order))

async function send({ client }: App, { kind, body }: Order): Promise<Answered<string>> {
  const id = <T extends object>(answer: Answered<T>, name: keyof T): Answered<string> =>
    'ok' in answer ? { ok: String(answer.ok[name]) } : answer
  switch (kind) {
    case 'topup':
      return id(await client.topUp(body), 'paymentId')
    case 'settlement':
      return id(await client.settle(body), 'paymentId')
    case 'cashout':
      return id(await client.cashOut(body), 'payoutId')
    case 'send':
      return id(await client.send(body), 'sendId')
  }
}

/** Shows a heading with what belongs to it, and moves the focus there, so that it is read next. */
export function reveal(place: HTMLElement, title: string, ...content: (HTMLElement | string)[]) {
  const heading = h('h3', { tabindex: -1 }, title)
  fill(place, heading, content)
  heading.focus()
}
