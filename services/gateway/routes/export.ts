import type { PersonReader } from '#platform/db/person'
import { GetExport } from '#shared/api/account'
import { type PersonPage, type PersonRow, personReads } from '#shared/messages/person'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { okOf, Refused } from '../http/failure'
import { openLimiter, openPlaces } from '../http/limit'
import { largeHeaders } from '../http/outgoing'
import { serve } from '../http/serve'
import type { Access } from '../sign-in/access'

const perDayMax = 5
const minutesPerDay = 1_440
/** Maximum number of concurrent exports, because each holds a page of each service in memory. */
const atOnceMax = 16
/** Maximum duration of an export, in ms: slow readers must not keep the slots. */
const deadlineMs = 120_000

export const exportRoute = (context: Context, access: Access) => {
  const { ask, clock, log, ownPerson } = context
  const starts = openLimiter({ perMinute: perDayMax / minutesPerDay, atOnce: perDayMax, clock })
  const places = openPlaces(atOnceMax)
  const readers: readonly PersonReader[] = [
    ownPerson,
    ...Object.values(personReads).map(
      (question): PersonReader =>
        async (asked) =>
          okOf(await ask(question, asked)),
    ),
  ]
  return serve(access, GetExport, async ({ set, wallet }) => {
    const leave = places.enter()
    try {
      const waitSeconds = starts.take(wallet)
      if (waitSeconds > 0) throw limitReached(waitSeconds)
      // The first pages are read before the response begins, so that a service that is down is a 503, not
      // half a document.
      const firsts = await inTime(Promise.all(readers.map((read) => read({ wallet }))), 'the rows').catch((error) => {
        starts.giveBack(wallet)
        throw error
      })
      const begun = readers.map((read, at) => ({ read, first: firsts[at]! }))
      const opening = { wallet, exportedAt: new Date(clock()).toISOString() }
      set.headers['content-type'] = 'application/json'
      const failed = (err: unknown) => log.warn({ err }, 'export ended early')
      const parts = textOf(opening, begun)
      return new Response(sent(parts, { leave, failed }), { headers: largeHeaders })
    } catch (error) {
      leave()
      throw error
    }
  })
}

const limitReached = (waitSeconds: number) =>
  new Refused(429, [{ code: 'export_limit_reached' }], waitSeconds, 'export_limit_reached')

type Begun = { readonly read: PersonReader; readonly first: PersonPage }

async function* textOf(opening: { wallet: string; exportedAt: string }, begun: readonly Begun[]) {
  yield `${JSON.stringify(opening).slice(0, -1)},"rows":[`
  let comma = ''
  for (const { read, first } of begun) {
    let page = first
    while (true) {
      if (page.rows.length > 0) {
        yield comma + page.rows.map((row) => JSON.stringify(inCamelCase(row))).join(',')
        comma = ','
      }
      if (!page.next) break
      page = await inTime(read({ wallet: opening.wallet, after: page.next }), 'the rows')
    }
  }
  yield ']}'
}

const inCamelCase = ({ table, values }: PersonRow) => ({
  table,
  values: Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  ),
})

/** Sends an export, and releases its slot when it ends for whatever reason. */
function sent(
  parts: AsyncGenerator<string>,
  { leave, failed }: { leave: () => void; failed: (error: unknown) => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let timer: NodeJS.Timeout | undefined
  const end = () => {
    if (!timer) return
    clearTimeout(timer)
    timer = undefined
    leave()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setTimeout(() => {
          end()
          controller.error(new Error('the export took too long'))
        }, deadlineMs)
      },
      async pull(controller) {
        try {
          const { done, value } = await parts.next()
          if (!timer) return
          if (!done) return controller.enqueue(encoder.encode(value))
          end()
          controller.close()
        } catch (error) {
          failed(error)
          end()
          controller.error(error)
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}
