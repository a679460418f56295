import type { GetRecord } from '#shared/api/record'
import type { RouteAnswer } from '#shared/api/route'
import { okOf } from '#shared/client/client'
import { type PageSection, type ReferenceApp, time, worth } from '../app'
import { facts, fill, h } from '../dom'
import { step } from '../step'
import { walletField } from './fields'

type CreditRecord = RouteAnswer<typeof GetRecord>

export function recordSection(app: ReferenceApp): PageSection {
  const { t, client } = app
  const wallet = walletField(app, app.account.address)
  const shown = h('div')
  const look = step(app, t.showRecord, [wallet.element], async () => {
    const record = okOf(await client.record(wallet.read()))
    fill(shown, recordOf(app, record))
    return record.indexer === 'ok' ? t.recordShown : t.historyUnavailable
  })
  const element = h('div', {}, h('p', {}, t.recordIntro), look.element, shown)
  return { slug: 'record', element }
}

function recordOf(app: ReferenceApp, { verified, score, cycles, defaulted, history }: CreditRecord) {
  const { t } = app
  const yesNo = (is: boolean) => (is ? t.yes : t.no)
  const cards = (history?.cycles ?? []).map((cycle) =>
    h(
      'div',
      { class: 'card' },
      h('h3', {}, t.cycle(cycle.number)),
      facts([
        [t.outcome, cycle.outcome ? t.outcomes[cycle.outcome] : t.open],
        [t.due, cycle.dueAt ? time(app, cycle.dueAt) : undefined],
        [t.peak, cycle.peakDrawn ? worth(app, cycle.peakDrawn, 'up') : undefined],
        [t.totalRepaid, cycle.totalRepaid ? worth(app, cycle.totalRepaid, 'up') : undefined],
        [t.scoreAfter, cycle.scoreAfter ?? undefined],
      ]),
    ),
  )
  const summary = facts([
    [t.identityVerified, yesNo(verified)],
    [t.score, score],
    [t.closedCycles, String(cycles)],
    [t.defaultedBefore, yesNo(defaulted)],
  ])
  return [summary, ...cards]
}
