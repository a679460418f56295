import { BaseError, ContractFunctionRevertedError } from 'viem'
import { pause } from '#platform/deadline'
import { type Answered, type Client, okOf, Refused, Unanswered } from '#shared/client/client'
import { inLocalMoney, type ReferenceApp } from './app'
import { NoGas, NotDone } from './chain'
import { h, InvalidField } from './dom'
import { type AppOrder, OrderOpen, type StoredOrder, submit } from './orders'
import type { Texts } from './texts/english'

type Tone = 'good' | 'bad' | 'quiet'
/** Shows progress in a live region, which screen readers speak. */
export type ShowProgress = (text: string, tone?: Tone) => void
/** Final text of a step. It is good news unless it has another tone. */
type StepOutcome = string | undefined | { readonly text: string; readonly tone: Tone }

/** Returns the text of an error. A refusal has the gateway's text. */
export function faultText(t: Texts, error: unknown): string {
  if (error instanceof Refused) return error.refusal.message
  if (error instanceof InvalidField) return t.checkForm
  if (error instanceof NoGas) return t.noGas
  if (error instanceof NotDone) return t.notDone
  if (error instanceof OrderOpen) return t.orderOpen
  if (error instanceof BaseError) {
    const reverted = error.walk((one) => one instanceof ContractFunctionRevertedError)
    const name = (reverted as ContractFunctionRevertedError | null)?.data?.errorName
    if (!reverted) return t.noAnswer
    const isKnown = name !== undefined && Object.hasOwn(t.contractErrors, name)
    return isKnown ? t.contractErrors[name as keyof Texts['contractErrors']] : t.reverted
  }
  return error instanceof Unanswered ? t.noAnswer : String(error)
}

type StepForm = ReturnType<typeof step>

/**
 * Creates a step with a button. While the step runs, the button keeps the focus and does nothing. `run` returns the
 * final text, or nothing.
 */
export function step(
  app: ReferenceApp,
  label: string,
  fields: readonly (HTMLElement | undefined)[],
  run: (say: ShowProgress) => Promise<StepOutcome>,
  look = 'main',
) {
  const { t } = app
  const result = h('p', { class: 'result', role: 'status' })
  const button = h('button', { class: look }, label)
  const say: ShowProgress = (text, tone = 'quiet') => {
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
      say(inLocalMoney(app, faultText(t, error)), 'bad')
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
  const clear = (): void => {
    if (!isBusy) say('')
  }
  return { element, button, start, clear }
}

/** Pause in ms before an order without a response is sent again. */
const againMs = 5_000

/**
 * Places an order. It is stored before it is sent, and sent again as stored while there is no response. Throws if the
 * order was refused.
 */
export async function place(app: ReferenceApp, wanted: StoredOrder, say: ShowProgress): Promise<void> {
  for (let order = wanted; ; ) {
    try {
      if ('raw' in order) await app.chain.finish(order)
      else okOf(await submit(app.orders, order, (one) => send(app.client, one)))
      return
    } catch (error) {
      const stored = app.orders.get(order.kind)
      if (error instanceof OrderOpen || stored === undefined) throw error
      say(app.t.unknown, 'bad')
      await pause(againMs)
      order = stored
    }
  }
}

function send(client: Client, { kind, body }: AppOrder): Promise<Answered<unknown>> {
  switch (kind) {
    case 'topup':
      return client.topUp(body)
    case 'settlement':
      return client.settle(body)
    case 'cashout':
      return client.cashOut(body)
    case 'send':
      return client.send(body)
  }
}

/** Continues an order to which an earlier load of the page got no response. */
export function resume(app: ReferenceApp, kind: StoredOrder['kind'], form: StepForm, done: string): void {
  const order = app.orders.get(kind)
  if (!order) return
  void form.start(async (say) => {
    await place(app, order, say)
    return done
  })
}
