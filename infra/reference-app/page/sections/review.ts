import type { ReferenceApp } from '../app'
import { facts, fill, h } from '../dom'
import { type ShowProgress, step } from '../step'
import { reconverted } from './fields'

export type Review = {
  /** What the user agrees to: each name with its value. */
  readonly rows: readonly (readonly [string, string])[]
  /** A sentence that speaks against it. */
  readonly warning?: string | undefined
  readonly note?: string | undefined
  readonly label: string
  readonly run: (say: ShowProgress) => Promise<void>
  readonly done: string
  /**
   * Forms with the fields that it was made of. A change of one of them withdraws it, and another rate ends it, unless it has a
   * rate of its own.
   */
  readonly forms: readonly HTMLElement[]
  readonly hasOwnRate?: boolean
}

/**
 * Shows what will happen, with the button that does it. Returns how to end it with a text, which has no effect while it runs
 * or once it has gone.
 */
export function showReview(app: ReferenceApp, at: HTMLElement, review: Review): (text: string) => void {
  const { rows, warning, note, label, run, done, forms, hasOwnRate } = review
  let isTaken = false
  let ending: string | undefined
  const order = step(app, label, [], async (say) => {
    isTaken = true
    await run(say).finally(() => {
      isTaken = false
      if (ending !== undefined) end(ending)
    })
    fill(at, h('p', { class: 'result', role: 'status', 'data-tone': 'good' }, done))
    return done
  })
  const panel = h('div', { class: 'offer' }, facts(rows))
  const heading = h('h3', { tabindex: -1 }, app.t.offer)
  const contrary = warning && h('p', { class: 'result', role: 'alert', 'data-tone': 'bad' }, warning)
  fill(at, heading, panel, contrary, note && h('p', { class: 'note' }, note), order.element)
  heading.focus() // A screen reader reads the review next.
  const withdraw = () => {
    if (!isTaken && panel.isConnected) at.replaceChildren()
  }
  for (const form of forms) {
    form.addEventListener('input', withdraw, { once: true })
    if (!hasOwnRate) form.addEventListener(reconverted, () => end(app.t.rateChanged), { once: true })
  }

  /** A refusal stays shown. */
  function end(text: string): void {
    ending = text
    if (isTaken || !panel.isConnected) return
    order.button.remove()
    fill(at, h('p', { class: 'result', role: 'status' }, text), order.element)
  }
  return end
}
