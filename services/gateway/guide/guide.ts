import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generalRefusals, refusals } from '#shared/declared-refusals'

/** Pages of the guide, in reading order. */
const pages = [
  { slug: '', about: 'overview, prerequisites and four rules' },
  { slug: 'sign-in', about: 'wallet sessions and identity verification' },
  { slug: 'account', about: 'balances, debt and available credit' },
  { slug: 'top-up', about: 'turn local currency into collateral' },
  { slug: 'wait', about: 'follow an item until it is done; retry safely' },
  { slug: 'draw', about: 'borrow from the contract, repay from the wallet, or allow automatic repayments' },
  { slug: 'settle', about: 'repay the whole debt in local currency' },
  { slug: 'cash-out', about: 'turn AUSD into rupiah in a bank account' },
  { slug: 'send', about: 'send AUSD to any wallet without gas' },
  { slug: 'apps', about: 'browser wallets, stored sessions, React Native' },
  { slug: 'record', about: 'the public credit record of a wallet' },
  { slug: 'events', about: 'receive events, such as reminders of due debts, by HTTP or from NATS' },
  { slug: 'webhooks', about: 'simulate the payer and the providers in test mode' },
  { slug: 'versions', about: 'what may be added, and what stays' },
  { slug: 'errors', about: 'every error code and how to handle it' },
] as const

type GuidePage = {
  readonly path: string
  readonly title: string
  readonly about: string
  readonly markdown: () => string
  readonly html: () => string
}

const readIn = (folder: string) => (file: string) => readFileSync(join(import.meta.dir, folder, file), 'utf8')
const readPage = readIn('pages')
const readExample = readIn('examples')

const pathOf = (slug: string) => (slug === '' ? '/docs/guide' : `/docs/guide/${slug}`)
const fileOf = (slug: string) => `${slug || 'guide'}.md`
const fileToPath = new Map<string, string>(pages.map(({ slug }) => [fileOf(slug), pathOf(slug)]))

export function openGuide(baseUrl: string): readonly GuidePage[] {
  const written = pages.map(({ slug, about }) => {
    const text = readPage(fileOf(slug))
      .replace(/^<!-- example: (\S+) -->$/gm, (_, name) => exampleIn(name))
      .replace(/^<!-- refusals -->$/m, refusalsInWords)
      .replace(/^<!-- (?:generated: \S+|end of generated) -->\n\n/gm, '')
      .replaceAll('{base_url}', baseUrl)
    const title = /^# (.+)$/m.exec(text)?.[1] ?? slug
    return { path: pathOf(slug), title, about, text }
  })
  return written.map(({ text, ...page }, at) => ({
    ...page,
    markdown: () => linked(text, (path) => `${baseUrl}${path}.md`),
    html: () => layout({ ...page, written, before: written[at - 1], next: written[at + 1] }, htmlOf(text)),
  }))
}

/**
 * Returns an example as a Markdown code block. It is inlined unchanged, so that the guide shows the code that
 * the tests run.
 */
const exampleIn = (name: string) =>
  `\`${name}\`\n\n\`\`\`${name.split('.').at(-1)}\n${readExample(name).trimEnd()}\n\`\`\``

const refusalsInWords = () =>
  Object.entries({ ...refusals, ...generalRefusals })
    .map(([code, refusal]) => {
      const sentence = 'text' in refusal ? `: ${refusal.text.en}` : ''
      return `### ${code}\n\n**${refusal.status}**${sentence}\n\n${refusal.hint}`
    })
    .join('\n\n')

const linked = (text: string, to: (path: string) => string) =>
  text.replace(/\]\(([\w-]+\.md)(#[\w-]+)?\)/g, (whole, file, anchor = '') => {
    const path = fileToPath.get(file)
    return path ? `](${to(path)}${anchor})` : whole
  })

const htmlOf = (text: string) =>
  Bun.markdown
    .html(
      linked(text, (path) => path),
      { headings: { ids: true }, noHtmlBlocks: true, noHtmlSpans: true },
    )
    // Each error code is its own anchor, as in `/docs/guide/errors#quote_used`.
    .replace(/<h3 id="[^"]*">([a-z_]+)<\/h3>/g, '<h3 id="$1"><a href="#$1">$1</a></h3>')

type Link = { readonly path: string; readonly title: string }
type Around = Link & {
  readonly written: readonly Link[]
  readonly before: Link | undefined
  readonly next: Link | undefined
}

const link = ({ path, title }: Link, current?: string) =>
  `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`

/** Returns the HTML of a page, which loads only our own style sheet. */
const layout = ({ path, title, written, before, next }: Around, body: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="/docs/guide.css">
<link rel="alternate" type="text/markdown" href="${path}.md">
</head>
<body>
<div class="frame">
<nav aria-label="Guide">
<ul>${written.map((one) => `<li>${link(one, path)}</li>`).join('')}</ul>
<ul class="apart"><li><a href="/docs">API reference</a></li><li><a href="/openapi.json">OpenAPI</a></li></ul>
</nav>
<main>
${body}
<footer>
<span>${before ? `Previous: ${link(before)}` : ''}</span>
<span><a href="${path}.md">This page as Markdown</a></span>
<span>${next ? `Next: ${link(next)}` : ''}</span>
</footer>
</main>
</div>
</body>
</html>
`

/** Returns the overview for language models, in the format of https://llmstxt.org. */
export function llmsText(guide: readonly GuidePage[], baseUrl: string): string {
  const lines = guide.map(({ path, title, about }) => `- [${title}](${baseUrl}${path}.md): ${about}`)
  return `# AUSD credit line

> An HTTP and JSON interface through which users in Malaysia and Indonesia top up, draw on, settle and cash out of
> an onchain credit line. A wallet signs in; amounts are strings of digits in the smallest unit.

## Guide

${lines.join('\n')}

## Reference

- [OpenAPI document](${baseUrl}/openapi.json): every route, its fields and its errors
`
}

export const guideStyles = () => readFileSync(join(import.meta.dir, 'guide.css'), 'utf8')
