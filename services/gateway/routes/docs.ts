import { Elysia } from 'elysia'
import type { Door } from '../http/door.ts'
import { Refused } from '../http/refused.ts'
import { undocumented } from '../openapi/operation.ts'
import { page, pageFile, pagePolicy, startScript } from '../openapi/page.ts'

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
