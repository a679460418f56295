import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ErrorCode, errorCodes, generalRefusals, refusals } from '#shared/refusals'
import { remedies } from './remedies'

/** The pages in their order; the first has no name of its own. */
const pages = [
  { slug: '', about: 'what there is, and what to have at hand' },
  { slug: 'sign-in', about: 'a wallet, a session, and who the person is' },
  { slug: 'account', about: 'what a person has, owes, and may draw' },
  { slug: 'top-up', about: 'local money becomes collateral' },
  { slug: 'wait', about: 'following an item until it is done; repeating safely' },
  { slug: 'draw', about: 'borrowing, straight from the contract' },
  { slug: 'settle', about: 'paying the debt in local money' },
  { slug: 'cash-out', about: 'AUSD becomes rupiah in a bank' },
  { slug: 'send', about: 'AUSD to anybody, without gas' },
  { slug: 'record', about: 'the public credit record of a wallet' },
  { slug: 'webhooks', about: 'playing the providers in test mode' },
  { slug: 'errors', about: 'every code, and what to do about it' },
] as const

/** One page as it is served, in both forms. */
export type Page = {
  readonly path: string
  readonly title: string
  readonly about: string
  readonly markdown: string
  readonly html: string
}

const readIn = (folder: string) => (file: string) =>
  readFileSync(join(import.meta.dir, folder, file), 'utf8')
const readPage = readIn('pages')
const readExample = readIn('examples')

const pathOf = (slug: string) => (slug === '' ? '/docs/guide' : `/docs/guide/${slug}`)
const fileOf = (slug: string) => `${slug || 'guide'}.md`
const fileToPath = new Map<string, string>(pages.map(({ slug }) => [fileOf(slug), pathOf(slug)]))

/** The guide, with the address of this service in it, made once from the pages and the examples. */
export function openGuide(baseUrl: string): readonly Page[] {
  const written = pages.map(({ slug, about }) => {
    const text = readPage(fileOf(slug))
      .replace(/^<!-- example: (\S+) -->$/gm, (_, name) => exampleIn(name))
      .replace(/^<!-- refusals -->$/m, refusalsInWords)
      .replaceAll('{base_url}', baseUrl)
    const title = /^# (.+)$/m.exec(text)?.[1] ?? slug
    return { path: pathOf(slug), title, about, text }
  })
  return written.map(({ text, ...page }, at) => ({
    ...page,
    markdown: linked(text, (path) => `${baseUrl}${path}.md`),
    html: layout(
      { ...page, written, before: written[at - 1], next: written[at + 1] },
      htmlOf(text),
    ),
  }))
}

/** A file of the examples as it stands: what is shown is what the tests run. */
const exampleIn = (name: string) =>
  `\`${name}\`\n\n\`\`\`${name.split('.').at(-1)}\n${readExample(name).trimEnd()}\n\`\`\``

const statusOf = (code: ErrorCode): number =>
  code in refusals
    ? refusals[code as keyof typeof refusals].status
    : generalRefusals[code as keyof typeof generalRefusals]
const sentenceOf = (code: ErrorCode): string | undefined =>
  refusals[code as keyof typeof refusals]?.message

const refusalsInWords = () =>
  errorCodes
    .map((code) => {
      const sentence = sentenceOf(code)
      return `### ${code}\n\n**${statusOf(code)}**${sentence ? `: ${sentence}` : ''}\n\n${remedies[code]}`
    })
    .join('\n\n')

/** Links between the pages, which are files here and addresses there. */
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
    // A word is its own anchor, as in `/docs/guide/errors#quote_used`.
    .replace(/<h3 id="[^"]*">([a-z_]+)<\/h3>/g, '<h3 id="$1"><a href="#$1">$1</a></h3>')

type Link = { readonly path: string; readonly title: string }
type Around = Link & {
  readonly written: readonly Link[]
  readonly before: Link | undefined
  readonly next: Link | undefined
}

const link = ({ path, title }: Link, current?: string) =>
  `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`

/** No script, no font and no picture: nothing to load but one style sheet of our own. */
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
<ul class="apart"><li><a href="/docs">Every route</a></li><li><a href="/openapi.json">OpenAPI</a></li></ul>
</nav>
<main>
${body}
<footer>
<span>${before ? `Before: ${link(before)}` : ''}</span>
<span><a href="${path}.md">This page as Markdown</a></span>
<span>${next ? `Next: ${link(next)}` : ''}</span>
</footer>
</main>
</div>
</body>
</html>
`

/** `/llms.txt`: where a program that reads finds everything as text. https://llmstxt.org */
export function llmsText(guide: readonly Page[], baseUrl: string): string {
  const lines = guide.map(
    ({ path, title, about }) => `- [${title}](${baseUrl}${path}.md): ${about}`,
  )
  return `# AUSD credit line

> People in Malaysia and Indonesia top up, draw, settle and cash out of an on-chain credit line, through an HTTP
> interface in JSON. A wallet signs in; amounts are strings of digits in the smallest unit.

## Guide

${lines.join('\n')}

## Reference

- [OpenAPI document](${baseUrl}/openapi.json): every route, its fields and its refusals
`
}

/** The one style sheet of the guide. */
export const guideStyles = () => readFileSync(join(import.meta.dir, 'guide.css'), 'utf8')
