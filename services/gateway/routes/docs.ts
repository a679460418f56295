import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import { openStatic } from '../http/static'
import { undocumented } from '../openapi/operation'
import type { Access } from '../sign-in/access'

export function docsRoutes(document: () => Promise<string>, access: Access) {
  const routes = new Elysia().use(access)
  for (const { path, ...content } of [{ path: '/openapi.json', type: json, read: document }, ...files])
    routes.get(path, openStatic(content), { limited: 'public', ...undocumented })
  return routes.get(
    '/',
    ({ set }) => {
      set.status = 302 // Browsers cache a 301, and `/` may lead elsewhere one day.
      set.headers.location = '/docs'
      return { see: '/docs' }
    },
    { limited: 'public', ...undocumented },
  )
}

/** Page of the API documentation, which loads nothing from other hosts. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<p style="margin: 1rem 1.25rem; font-family: sans-serif"><a href="/docs/guide">Integration guide</a></p>
<div id="interface"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

/** Script of the page, whose policy allows no inline script. */
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#interface',
  deepLinking: true,
  validatorUrl: null,
})
`

/** Content-Security-Policy of the page. Swagger UI sets inline styles and has icons in its style sheet. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const json = 'application/json'
const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'

/** Returns a file of the package; no other file of it is served. */
const packaged = (name: string, type: string) => ({
  path: `/docs/${name}`,
  type,
  cacheControl: 'public, max-age=86400',
  read: () => Bun.file(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))).bytes(),
})

const files = [
  { path: '/docs', type: html, policy: pagePolicy, read: () => page },
  { path: '/docs/start.js', type: script, read: () => startScript },
  packaged('swagger-ui-bundle.js', script),
  packaged('swagger-ui.css', 'text/css; charset=utf-8'),
  packaged('favicon-32x32.png', 'image/png'),
]
