import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { GetReceipt } from '#shared/api/statement'
import type { ActivityEntry } from '#shared/messages/activity'
import { fiatOf } from '#shared/money/pair'
import { moneyText } from '#shared/money/text'
import type { Context } from '../context'
import { operation } from '../openapi/operation'
import type { Access } from '../sign-in/access'
import { idParameter, itemOf, openItems } from './activity'

const styles = readFileSync(join(import.meta.dir, 'receipt.css'), 'utf8')
const styleHash = createHash('sha256').update(styles).digest('base64')
/** The page is complete in itself, so that an app can show it from memory. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** `GET /me/activity/:id/receipt`: one item as a page to print. */
export const receiptRoute = (context: Context, access: Access) => {
  const find = openItems(context)
  return new Elysia().use(access).get(
    GetReceipt.path,
    async ({ params, set, wallet }) => {
      const page = receiptOf(itemOf(await find(wallet, params.id)))
      set.headers['content-type'] = 'text/html; charset=utf-8'
      set.headers['content-security-policy'] = policy
      return page
    },
    {
      signed: true,
      ...operation({
        summary: 'Receipt of one item, as a page to print',
        description:
          'The item as in `GET /me/activity/{id}`, as HTML without script, font or image. It names neither ' +
          'the wallet nor the bank account. Fetch it with the session, and open it from a Blob.',
        tag: 'account',
        security: 'session',
        parameters: [idParameter],
        ok: { description: 'The page.', text: { 'text/html': '<!doctype html>' } },
        errors: [401, 404, 429, 503],
      }),
    },
  )
}

const kinds = {
  topup: 'Top-up',
  settlement: 'Debt repayment',
  cashout: 'Cash-out',
  send: 'Transfer',
} as const satisfies Record<ActivityEntry['kind'], string>

const timeText = (at: string) => `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`

/** Writes the receipt of an item. */
export function receiptOf(item: ActivityEntry): string {
  const { id, kind, status, sentence, inFlight, pair, fiat, ausd, channel, to } = item
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Local currency', pair && fiat && moneyText(fiat, fiatOf(pair))],
    ['AUSD', moneyText(ausd, 'AUSD')],
    ['Paid through', channel && channel !== 'unknown' ? channel.replace('_', ' ') : undefined],
    ['To', to],
    ['Created', timeText(item.createdAt)],
    ['Last change', timeText(item.updatedAt)],
    ['Status', status.replaceAll('_', ' ')],
    ['Transaction', item.txHash],
    ['Id', id],
  ]
  const title = `${inFlight ? 'In progress' : 'Receipt'}: ${kinds[kind]}`
  const shown = rows.flatMap(([name, value]) =>
    value ? [`<tr><th scope="row">${name}</th><td>${Bun.escapeHTML(value)}</td></tr>`] : [],
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${styles}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${Bun.escapeHTML(sentence)}</p>
<table>
${shown.join('\n')}
</table>
</main>
</body>
</html>
`
}
