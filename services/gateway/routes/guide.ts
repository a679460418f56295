import { Elysia } from 'elysia'
import { guideStyles, llmsText, openGuide } from '../guide/guide'
import { clientPackage } from '../guide/package'
import { openStatic } from '../http/static'
import { undocumented } from '../openapi/operation'
import type { Access } from '../sign-in/access'

const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const html = 'text/html; charset=utf-8'
const markdown = 'text/markdown; charset=utf-8'
const plain = 'text/plain; charset=utf-8'
const css = 'text/css; charset=utf-8'

export function guideRoutes(publicUrl: string, access: Access) {
  const baseUrl = publicUrl.replace(/\/$/, '')
  const guide = openGuide(baseUrl)
  const files = [
    { path: '/docs/guide.css', type: css, read: guideStyles },
    { path: '/docs/client.tgz', type: 'application/gzip', read: clientPackage },
    { path: '/llms.txt', type: plain, read: () => llmsText(guide, baseUrl) },
    ...guide.flatMap((page) => [
      { path: page.path, type: html, policy: pagePolicy, read: page.html },
      { path: `${page.path}.md`, type: markdown, read: page.markdown },
    ]),
  ]
  const routes = new Elysia().use(access)
  for (const { path, ...content } of files)
    routes.get(path, openStatic(content), { limited: 'public', ...undocumented })
  return routes
}
