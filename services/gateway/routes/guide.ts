import { Elysia } from 'elysia'
import { guideStyles, llmsText, openGuide } from '../guide/guide'
import { clientPackage } from '../guide/package'
import { Refused } from '../http/failure'
import { undocumented } from '../openapi/operation'

/** Allows the pages only their own style sheet. */
const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const html = 'text/html; charset=utf-8'
const markdown = 'text/markdown; charset=utf-8'

/** `GET /docs/guide`: the integration guide, each page as HTML and Markdown. */
export function guideRoutes(publicUrl: string) {
  const baseUrl = publicUrl.replace(/\/$/, '')
  const guide = openGuide(baseUrl)
  const files = new Map<string, readonly [type: string, text: string]>([
    ['/docs/guide.css', ['text/css; charset=utf-8', guideStyles()]],
    ['/llms.txt', ['text/plain; charset=utf-8', llmsText(guide, baseUrl)]],
    ...guide.flatMap((page) => [
      [page.path, [html, page.html]] as const,
      [`${page.path}.md`, [markdown, page.markdown]] as const,
    ]),
  ])
  const answer = ({ request, set }: { request: Request; set: { headers: object } }) => {
    const file = files.get(new URL(request.url).pathname)
    if (!file) throw new Refused(404, 'not found')
    const [type, text] = file
    Object.assign(set.headers, { 'content-type': type, 'cache-control': 'no-cache' })
    if (type === html) Object.assign(set.headers, { 'content-security-policy': pagePolicy })
    return text
  }
  let packed: Promise<Uint8Array<ArrayBuffer>> | undefined
  return new Elysia()
    .get(
      '/docs/client.tgz',
      async ({ set }) => {
        packed ??= clientPackage()
        set.headers['content-type'] = 'application/gzip'
        set.headers['cache-control'] = 'no-cache'
        return await packed
      },
      undocumented,
    )
    .get('/docs/guide', answer, undocumented)
    .get('/docs/guide.md', answer, undocumented)
    .get('/docs/guide.css', answer, undocumented)
    .get('/docs/guide/:page', answer, undocumented)
    .get('/llms.txt', answer, undocumented)
}
