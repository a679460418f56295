import { randomIds } from '../random'
import { type Html, html, trusted } from './html'
import { styles } from './styles'

/** Renders a page. `script` must be our own code. */
export function pageLayout(title: string, main: Html, script = '', status = 200): Response {
  const nonce = randomIds.hex(16)
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${trusted(styles)}</style>
</head>
<body>
<header class="top"><p class="brand"><span aria-hidden="true">◆</span> AUSD Credit Line</p>
<p class="mode">Sandbox</p></header>
<main>${main}</main>
<footer><p>No real money moves here. This page stands in for the provider's hosted page.</p></footer>
${script ? html`<script nonce="${nonce}">${trusted(script)}</script>` : null}
</body>
</html>
`
  const policy = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    `script-src 'nonce-${nonce}'`,
    'img-src data:',
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ].join('; ')
  return new Response(document.html, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  })
}

export function notice(
  about: { title: string; sign: string; tone: 'good' | 'bad' | 'quiet'; text: string },
  more: Html | null = null,
  status = 200,
): Response {
  const main = html`<section class="card notice ${about.tone}">
<p class="sign" aria-hidden="true">${about.sign}</p>
<h1>${about.title}</h1>
<p>${about.text}</p>
${more}
</section>`
  return pageLayout(about.title, main, '', status)
}
