import { join } from 'node:path'
import type { SandboxContext } from '../context'
import type { SandboxRoute } from '../route'
import { notice } from './layout'

const folder = join(import.meta.dir, '../../reference-app/page')

/**
 * Routes of the reference app, which is built on the first request. Its origin differs from those of gateway and chain,
 * as for any app.
 */
export function appRoutes({ config, publicUrl }: SandboxContext): SandboxRoute[] {
  if (!config.referenceApp) return [{ method: 'GET', path: '/app', run: landing }]
  const { gatewayUrl, rpcUrl } = config.referenceApp
  let built: Promise<string> | undefined
  const script = () => {
    built ??= bundled()
    built.catch(() => {
      built = undefined // The developer may fix the source before the next request.
    })
    return built
  }
  const file = (path: string, type: string, text: () => Promise<string>): SandboxRoute => ({
    method: 'GET',
    path,
    async run(request) {
      // Another name of this machine would be another origin, with another wallet and without CORS.
      if (new URL(request.url).host !== new URL(publicUrl).host) return Response.redirect(`${publicUrl}${path}`, 302)
      return new Response(await text(), {
        headers: {
          'content-type': `${type}; charset=utf-8`,
          'content-security-policy': policyOf([gatewayUrl, rpcUrl]),
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        },
      })
    },
  })
  const read = (name: string) => Bun.file(join(folder, name)).text()
  return [
    file('/app', 'text/html', async () =>
      (await read('index.html')).replace('{gateway}', gatewayUrl).replace('{rpc}', rpcUrl),
    ),
    file('/app/style.css', 'text/css', () => read('style.css')),
    file('/app/main.js', 'text/javascript', script),
  ]
}

async function bundled(): Promise<string> {
  const { success, logs, outputs } = await Bun.build({
    entrypoints: [join(folder, 'main.ts')],
    target: 'browser',
    minify: true,
    throw: false,
  })
  const [script] = outputs
  if (!success || !script) throw new Error(`cannot build the page: ${logs.map(String).join('\n')}`)
  return script.text()
}

/** Returns the content security policy. A receipt, opened from a Blob, inherits it and has inline styles. */
const policyOf = (reached: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    'img-src data:',
    `connect-src ${reached.join(' ')}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')

function landing() {
  const text = 'In a real deployment the app opens here. You can close this page.'
  return notice({ title: 'Return to the app', sign: '←', tone: 'quiet', text })
}
