import type { SandboxContext } from '../context'
import { decide } from '../identity/decide'
import type { Verdict } from '../identity/verdict'
import type { IdentityLink } from '../records'
import { type Call, param, type SandboxRoute } from '../route'
import { html } from './html'
import { notice, pageLayout } from './layout'

const outcomes = new Map<string, { verdict: Verdict; title: string; sign: string; text: string }>([
  [
    'approved',
    {
      verdict: 'approved',
      title: 'Identity approved',
      sign: '✓',
      text: 'The app is being notified. This can take a moment.',
    },
  ],
  [
    'rejected',
    {
      verdict: 'rejected',
      title: 'Identity rejected',
      sign: '✕',
      text: 'The app is being notified that the verification failed.',
    },
  ],
  [
    'retry',
    {
      verdict: 'retry',
      title: 'New documents requested',
      sign: '↻',
      text: 'The app is being notified that better documents are needed.',
    },
  ],
])

export const identityRoutes = (context: SandboxContext): SandboxRoute[] => [
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
        const person = String(form.get('person') ?? '').trim()
        const bend = person === '' ? {} : { person }
        decide(context, link.provider, link.wallet, outcome.verdict, bend)
        const tone = outcome.verdict === 'approved' ? 'good' : 'quiet'
        const way = html`<p><a class="button main" href="${context.config.appUrl}">Back to the app</a></p>`
        return notice({ ...outcome, tone }, way)
      })
    },
  },
]

function withLink(context: SandboxContext, request: Call, run: (link: IdentityLink) => Response): Response {
  const link = context.book.get('links', param(request, 'id'))
  if (link && Date.parse(link.expiresAt) > Date.now()) return run(link)
  const text = 'The link may have expired. Request a new one in the app.'
  const about = { title: 'Link not found', sign: '?', tone: 'quiet', text } as const
  return notice(about, null, 404)
}

function reviewPage(link: IdentityLink): Response {
  const main = html`<section class="card narrow">
<h1>Identity verification</h1>
<p>A real provider asks for a document and a selfie here. In the sandbox you choose the result.</p>
<dl class="facts"><div><dt>Wallet</dt><dd class="mono">${link.wallet}</dd></div></dl>
<form method="post" action="/identity/${link.id}" class="stack">
<label>Person <input name="person" maxlength="100" autocomplete="off" placeholder="a person of their own"></label>
<p class="label">Wallets with the same name here are one person, who can be verified with one wallet only.</p>
<button class="main" name="verdict" value="approved">Approve</button>
<button name="verdict" value="retry">Request new documents</button>
<button name="verdict" value="rejected">Reject</button>
</form></section>`
  return pageLayout('Identity verification', main)
}
