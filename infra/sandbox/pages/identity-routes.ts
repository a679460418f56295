import type { Context } from '../context'
import { decide } from '../identity/decide'
import type { Verdict } from '../identity/verdict'
import type { IdentityLink } from '../records'
import { type Call, param, type Route } from '../route'
import { html } from './html'
import { notice, page } from './layout'

const outcomes = new Map<string, { verdict: Verdict; title: string; sign: string; text: string }>([
  [
    'approved',
    {
      verdict: 'approved',
      title: 'Identity approved',
      sign: '✓',
      text: 'The service is being told. It can take a moment until the app knows.',
    },
  ],
  [
    'rejected',
    {
      verdict: 'rejected',
      title: 'Identity rejected',
      sign: '✕',
      text: 'The service is being told that this wallet is not to be trusted.',
    },
  ],
  [
    'retry',
    {
      verdict: 'retry',
      title: 'Asked again',
      sign: '↻',
      text: 'The service is being told that better documents are needed.',
    },
  ],
])

/** The hosted identity page: whoever opens it plays the reviewer. */
export const identityRoutes = (context: Context): Route[] => [
  {
    method: 'GET',
    path: '/identity/:id',
    run: (request) => withLink(context, request, reviewPage),
  },
  {
    method: 'POST',
    path: '/identity/:id',
    async run(request) {
      const form = await request.formData()
      return withLink(context, request, (link) => {
        const outcome = outcomes.get(String(form.get('verdict')))
        if (!outcome) return reviewPage(link)
        decide(context, link.provider, link.wallet, outcome.verdict)
        const tone = outcome.verdict === 'approved' ? 'good' : 'quiet'
        const way = html`<p><a class="button main" href="${context.config.appUrl}">Back to the app</a></p>`
        return notice({ ...outcome, tone }, way)
      })
    },
  },
]

function withLink(
  context: Context,
  request: Call,
  run: (link: IdentityLink) => Response,
): Response {
  const link = context.book.get('links', param(request, 'id'))
  if (link && Date.parse(link.expiresAt) > Date.now()) return run(link)
  const text = 'It may have expired. Ask the app for a new one.'
  const about = { title: 'This link does not work', sign: '?', tone: 'quiet', text } as const
  return notice(about, null, 404)
}

function reviewPage(link: IdentityLink): Response {
  const main = html`<section class="card narrow">
<h1>Verify an identity</h1>
<p>A real provider asks for a document and a selfie here. In the sandbox you decide.</p>
<dl class="facts"><div><dt>Wallet</dt><dd class="mono">${link.wallet}</dd></div></dl>
<form method="post" action="/identity/${link.id}" class="stack">
<button class="main" name="verdict" value="approved">Approve</button>
<button name="verdict" value="retry">Ask again</button>
<button name="verdict" value="rejected">Reject</button>
</form></section>`
  return page('Verify an identity', main)
}
