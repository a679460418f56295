import { copyButton, h, keyedList } from './dom'
import { added, curlOf, type LoggedRequest, nameOf, readable } from './request-log'
import type { Texts } from './texts/english'

const place = 'requests'

export function openRequests(storage: Pick<Storage, 'getItem' | 'setItem'>) {
  let log: readonly LoggedRequest[] = JSON.parse(storage.getItem(place) ?? '[]')
  let draw = () => {}
  return {
    report: (exchange: LoggedRequest): void => {
      log = added(log, exchange)
      try {
        storage.setItem(place, JSON.stringify(log))
      } catch {
        // The storage is full, so the page has the log only until a reload.
      }
      draw()
    },
    show: (t: Texts): HTMLElement => {
      const list = h('div', { class: 'cards' })
      const show = keyedList<LoggedRequest>(list, (exchange) => row(t, exchange))
      draw = () => show(log)
      draw()
      return h('details', { class: 'requests' }, h('summary', {}, t.requests), h('p', {}, t.requestsIntro), list)
    },
  }
}

function row(t: Texts, first: LoggedRequest) {
  let exchange = first
  const line = h('span', { class: 'mono' })
  const status = h('span', { class: 'status' })
  const asked = h('pre', { tabindex: 0, role: 'region', 'aria-label': t.request })
  const answered = h('pre', { tabindex: 0, role: 'region', 'aria-label': t.answer })
  const element = h(
    'details',
    { class: 'card', toggle: () => showTexts() },
    h('summary', {}, line, ' ', status),
    asked,
    copyButton(t.copyCurl, t.copied, () => curlOf(exchange)),
    answered,
    copyButton(t.copyAnswer, t.copied, () => exchange.answer ?? ''),
  )
  const showTexts = () => {
    if (!element.open) return
    const { method, url, headers, body, answer } = exchange
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const text = [`${method} ${url}`, ...lines, ...(body ? ['', readable(body)] : [])].join('\n')
    if (asked.textContent !== text) asked.textContent = text
    const reply = answer === undefined ? t.noAnswerYet : readable(answer)
    if (answered.textContent !== reply) answered.textContent = reply
  }
  const update = (next: LoggedRequest) => {
    exchange = next
    const { times, status: code } = next
    line.textContent = `${nameOf(next)}${times > 1 ? ` ×${times}` : ''}`
    status.textContent = code === undefined ? '…' : String(code)
    status.dataset.tone = code === undefined || code < 400 ? 'good' : 'bad'
    showTexts()
  }
  return { element, update }
}
