import { serviceMs } from '#shared/client/client'
import { exactWorth, type PageSection, type ReferenceApp, time, worth } from '../app'
import { canRepayAutomatically, type Shortage, shortageOf, startsAt } from '../auto-repay'
import { choice, fill, h, liveContent } from '../dom'
import { currencyNames, millisecondsOf } from '../format'
import { place, resume, type ShowProgress, step } from '../step'
import { ausdField, localTerms } from './fields'
import { showReview } from './review'

type Permission = NonNullable<ReferenceApp['me']['autoRepay']>

/** Returns the sentence about an automatic repayment that is on, and one about what it lacks. */
export function autoRepayTexts(app: ReferenceApp): { line: string; warning: string | undefined } | undefined {
  const { me, t, config } = app
  const { autoRepay } = me
  if (!autoRepay || !canRepayAutomatically(config)) return undefined
  return { line: lineOf(app, autoRepay), warning: shortageText(app, autoRepay.source, shortageOf(me, app.allowance)) }

  function lineOf(app: ReferenceApp, { source, maxPerCycle, startsAt }: Permission): string {
    const most = worth(app, maxPerCycle, 'up')
    if (startsAt === null) return t.autoRepayNext[source](most)
    const isLater = millisecondsOf(startsAt) > serviceMs()
    return isLater ? t.autoRepayLater[source](time(app, startsAt), most) : t.autoRepayNow[source](most)
  }
}

function shortageText(
  app: ReferenceApp,
  source: Permission['source'],
  shortage: Shortage | undefined,
): string | undefined {
  const { t } = app
  const text = (micro: string) => worth(app, micro, 'up')
  switch (shortage?.kind) {
    case 'used':
      return t.autoRepayUsed(text(shortage.rest))
    case 'most':
      return t.autoRepayRest(text(shortage.rest))
    case 'approval':
      return t.autoRepayUnapproved(text(shortage.needed))
    case 'source':
      return t.autoRepayShort[source](worth(app, shortage.has), text(shortage.needed))
    default:
      return undefined
  }
}

/** Creates the part of the debt's place that turns the automatic repayment on, changes it and ends it. */
export function autoRepayPart(app: ReferenceApp): Required<Pick<PageSection, 'element' | 'update'>> {
  const { t, config } = app
  const source = choice(t.autoRepayFrom, [
    ['wallet', t.autoRepaySources.wallet],
    ['collateral', t.autoRepaySources.collateral],
  ])
  const most = ausdField(app, () => {
    const terms = localTerms(app, { rounding: 'up' })
    const hint = app.me.drawn === '0' ? undefined : t.debtIs(worth(app, app.me.drawn, 'up'))
    return { ...terms, label: t.autoRepayMostIn(currencyNames[terms.currency]), hint }
  })
  const review = h('div')
  let isChanging = false
  let isSaving = false

  const permissionOf = (micro: string): Permission => {
    const { autoRepay, cycle } = app.me
    return {
      maxPerCycle: micro,
      source: source.read(),
      taken: autoRepay?.taken ?? '0',
      startsAt: cycle && startsAt(cycle.dueAt, config.credit.cycle.termSeconds),
    }
  }
  const allow = async ({ source, maxPerCycle }: Permission, say: ShowProgress) => {
    const mostMicro = BigInt(maxPerCycle)
    if (source === 'wallet' && (await app.chain.allowanceMicro()) < mostMicro)
      await place(app, await app.chain.sign({ kind: 'approve' }), say)
    await place(app, await app.chain.sign({ kind: 'setAutoRepay', mostMicro, source }), say)
  }
  const ask = step(app, t.continue, [source.element, most.element], async () => {
    const wanted = permissionOf(most.read())
    const { startsAt: from } = wanted
    const now = await app.chain.nowSeconds()
    const when = from === null || BigInt(from) > now ? from && t.autoRepayAt(time(app, from)) : t.autoRepaySoon
    showReview(app, review, {
      rows: [
        [t.autoRepayFrom, t.autoRepaySources[wanted.source]],
        [t.autoRepayMost, exactWorth(app, wanted.maxPerCycle, 'up')],
        [t.autoRepayWhen, when ?? t.autoRepayBeforeDue],
        [t.gas, t.hasGas],
      ],
      warning: shortageText(app, wanted.source, shortageOf({ ...app.me, autoRepay: wanted })),
      note: t.autoRepayNotes[wanted.source],
      label: t.autoRepayConfirm,
      forms: [ask.element],
      run: async (say) => {
        isSaving = true
        update()
        try {
          await allow(wanted, say)
          isChanging = false
        } finally {
          isSaving = false
          update()
        }
        end.clear()
      },
      done: t.autoRepayDone,
    })
    return undefined
  })
  resume(app, 'approve', ask, t.autoRepayHalf)
  resume(app, 'setAutoRepay', ask, t.saved)

  const end = step(
    app,
    t.autoRepayEnd,
    [],
    async (say) => {
      const source = app.me.autoRepay?.source ?? 'wallet'
      await place(app, await app.chain.sign({ kind: 'setAutoRepay', mostMicro: 0n, source }), say)
      isChanging = false
      fill(review)
      return t.autoRepayEnded
    },
    '',
  )
  const intro = h('p', {}, t.autoRepayIntro)
  const change = h('button', { type: 'button', click: () => showForm() }, t.autoRepayChange)
  const state = h('div')
  const show = liveContent(state, ({ line, warning }: NonNullable<ReturnType<typeof autoRepayTexts>>) => [
    h('p', { class: 'note' }, line),
    warning && h('p', { class: 'warning' }, warning),
  ])
  const toChange = h('p', {}, change)
  const on = h('div', {}, state, toChange)

  function showForm(): void {
    const { autoRepay } = app.me
    isChanging = true
    fill(review)
    if (autoRepay) {
      source.choose(autoRepay.source)
      most.enter(autoRepay.maxPerCycle)
    }
    update()
    source.element.querySelector<HTMLInputElement>(':checked')?.focus()
  }

  const keep = () => {
    isChanging = false
    fill(review)
    ask.clear()
    update()
    change.focus()
  }
  const cancel = h('p', {}, h('button', { type: 'button', click: keep }, t.autoRepayKeep))
  const element = h('div', {}, h('h3', {}, t.autoRepay), intro, on, end.element, ask.element, review, cancel)
  const update = () => {
    const { cycle, drawn } = app.me
    const texts = autoRepayTexts(app)
    element.hidden = !canRepayAutomatically(config) || (!texts && !cycle)
    intro.hidden = texts !== undefined
    on.hidden = end.button.hidden = !texts
    toChange.hidden = isChanging
    ask.element.hidden = texts !== undefined && !isChanging
    cancel.hidden = texts === undefined || !isChanging || isSaving
    most.update()
    if (!texts && drawn !== '0') most.suggest(drawn)
    if (texts) show(texts)
  }
  update()
  return { element, update }
}
