import type { ReferenceApp } from '../app'
import { h, liveContent } from '../dom'

/** Hides `part` until the user is verified. `note` shows `reason` or the state, with a link. */
export function verifiedOnly(app: ReferenceApp, part: HTMLElement, reason?: string) {
  const note = h('p', { class: 'note' })
  const show = liveContent(note, (sentence: string) => [
    `${sentence} `,
    h('a', { href: '#account' }, app.t.toVerification),
  ])
  const update = () => {
    const { verified, verification } = app.me
    part.hidden = !verified
    note.hidden = verified
    show(reason ?? verification.sentence)
  }
  update()
  return { note, update }
}
