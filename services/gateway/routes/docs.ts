import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import type { Door } from '../http/door'
import { Refused } from '../http/failure'
import { undocumented } from '../openapi/operation'

const script = 'text/javascript; charset=utf-8'

/** `GET /openapi.json` and `/docs`: the interface, for programs and for people. */
export const docsRoutes = (door: Door, document: string) =>
  new Elysia()
    .get(
      '/openapi.json',
      door.free(async () => {
        const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }
        return new Response(document, { headers })
      }),
      undocumented,
    )
    .get(
      '/docs',
      door.free(async () => {
        const type = 'text/html; charset=utf-8'
        const headers = { 'Content-Type': type, 'Content-Security-Policy': pagePolicy }
        return new Response(page, { headers })
      }),
      undocumented,
    )
    .get(
      '/docs/:file',
      door.free(async ({ params }) => {
        const name = params.file ?? ''
        if (name === 'start.js')
          return new Response(startScript, { headers: { 'Content-Type': script } })
        const file = pageFile(name)
        if (!file) throw new Refused(404, 'not found')
        return file
      }),
      undocumented,
    )

/** The page that renders the document, without anything from the internet. */
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Interface</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
</head>
<body>
<div id="interface"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

/** A file of its own, because the page's policy allows no inline script. */
const startScript = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#interface',
  deepLinking: true,
  validatorUrl: null,
})
`

/** Swagger UI sets styles of its elements itself and carries its icons in its style sheet. */
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

/** File name to content type: nothing else of the package can be asked for. */
const files = new Map([
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
])

/** One of the page's files from the package, or undefined. */
function pageFile(name: string): Response | undefined {
  const type = files.get(name)
  if (!type) return undefined
  const headers = { 'Content-Type': type, 'Cache-Control': 'public, max-age=86400' }
  return new Response(Bun.file(packaged(name)), { headers })
}
