import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import { Refused } from '../http/failure'
import { undocumented } from '../openapi/operation'

/** `GET /openapi.json` and `/docs`: the API reference as JSON and HTML; `/` redirects to it. */
export const docsRoutes = (document: string) =>
  new Elysia()
    .get(
      '/',
      ({ set }) => {
        set.status = 302 // Browsers cache a 301, and `/` may lead elsewhere one day.
        set.headers.location = '/docs'
        return { see: '/docs' }
      },
      undocumented,
    )
    .get(
      '/openapi.json',
      ({ set }) => {
        set.headers['content-type'] = 'application/json'
        set.headers['cache-control'] = 'no-cache'
        return document
      },
      undocumented,
    )
    .get(
      '/docs',
      ({ set }) => {
        set.headers['content-type'] = 'text/html; charset=utf-8'
        set.headers['content-security-policy'] = pagePolicy
        return page
      },
      undocumented,
    )
    .get(
      '/docs/start.js',
      ({ set }) => {
        set.headers['content-type'] = 'text/javascript; charset=utf-8'
        return startScript
      },
      undocumented,
    )
    .get(
      '/docs/:file',
      ({ params, set }) => {
        const type = files.get(params.file)
        if (!type) throw new Refused(404, 'not found')
        set.headers['content-type'] = type
        set.headers['cache-control'] = 'public, max-age=86400'
        return Bun.file(packaged(params.file)).bytes()
      },
      undocumented,
    )

/** Page that renders the document; it loads nothing from other hosts. */
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

/** A separate file, because the page's policy allows no inline script. */
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#interface',
  deepLinking: true,
  validatorUrl: null,
})
`

/** Allows inline styles, which Swagger UI sets on its elements, and the icons in its style sheet. */
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

const packaged = (name: string) => fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))

/** Content type by file name; no other file of the package is served. */
const files = new Map([
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
])
