import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GetReceipt } from '#shared/api/statement'
import {
  accountText,
  kindTexts,
  paidThrough,
  rateText,
  receiptRows,
  receiptTitles,
  sourceTexts,
  statusText,
} from '#shared/language/receipt'
import { timeText, type Zone, zoneOf } from '#shared/language/time'
import type { ActivityEntry } from '#shared/messages/activity'
import { fiatOf } from '#shared/money/pair'
import { moneyText } from '#shared/money/text'
import type { Context } from '../context'
import { inTime } from '../http/deadline'
import { languageFor } from '../http/language'
import { serve } from '../http/serve'
import type { Wording } from '../http/support'
import type { Access } from '../sign-in/access'
import { itemOf, openItems } from './activity'

const styles = readFileSync(join(import.meta.dir, 'receipt.css'), 'utf8')
const styleHash = createHash('sha256').update(styles).digest('base64')
/** Content-Security-Policy of a receipt. It contains everything it needs, so that an app can show it offline. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

export const receiptRoute = (context: Context, access: Access) => {
  const find = openItems(context)
  return serve(access, GetReceipt, async ({ params, request, set, wallet }) => {
    const [item, user] = await Promise.all([find(wallet, params.id), inTime(context.users.find(wallet), 'the users')])
    const language = languageFor({ request, set })
    const zone = zoneOf(user?.country, language)
    const page = receiptOf(item, { language, zone, contact: context.config.supportContact })
    set.headers['content-type'] = 'text/html; charset=utf-8'
    set.headers['content-security-policy'] = policy
    return page
  })
}

export function receiptOf(entry: ActivityEntry, wording: Wording & { readonly zone: Zone }): string {
  const { language, zone, contact } = wording
  const at = (iso: string) => timeText(Date.parse(iso), language, { zone, to: 'second' })
  const item = itemOf(entry, wording)
  const { kind, pair, fiat, fee, rate } = item
  const rows: Readonly<Record<keyof typeof receiptRows, string | undefined>> = {
    fiat: pair && fiat && moneyText(fiat, fiatOf(pair), language),
    fee: pair && fee && moneyText(fee, fiatOf(pair), language),
    rate: pair && rate && rateText[language](moneyText(rate, fiatOf(pair), language)),
    ausd: moneyText(item.ausd, 'AUSD', language),
    channel: paidThrough(item, language),
    bankReceipt: item.bankReceipt,
    bank: item.bank && accountText(item.bank),
    source: item.source && sourceTexts[item.source][language],
    to: item.to,
    createdAt: at(item.createdAt),
    updatedAt: at(item.updatedAt),
    status: statusText(item, language),
    txHash: item.txHash,
    id: item.id,
    support: contact,
  }
  const title = `${receiptTitles[item.inFlight ? 'inFlight' : 'ended'][language]}: ${kindTexts[kind][language]}`
  const shown = Object.entries(receiptRows).flatMap(([name, texts]) => {
    const value = rows[name as keyof typeof rows]
    return value ? [`<tr><th scope="row">${texts[language]}</th><td>${Bun.escapeHTML(value)}</td></tr>`] : []
  })
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${styles}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${Bun.escapeHTML(item.sentence)}</p>
<table>
${shown.join('\n')}
</table>
</main>
</body>
</html>
`
}
