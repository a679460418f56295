import { expect, test } from 'bun:test'
import { openSandbox, testConfig } from '#test/support/sandbox'

const open = (has: boolean) => openSandbox({ ...testConfig, referenceApp: has ? reached : null })
/** Containers reach the gateway under another name than a browser. */
const reached = { gatewayUrl: 'http://127.0.0.1:7', rpcUrl: 'http://127.0.0.1:8' }

test('the reference app is built on first use, and reaches only the gateway and the chain', async () => {
  await using sandbox = open(true)
  const page = await fetch(`${sandbox.url}/app`)
  const text = await page.text()
  expect(text).toContain('data-gateway="http://127.0.0.1:7" data-rpc="http://127.0.0.1:8"')
  const policy = page.headers.get('content-security-policy')
  expect(policy).toContain('connect-src http://127.0.0.1:7 http://127.0.0.1:8;')
  const files = [...text.matchAll(/(?:src|href)="(\/app\/[^"]+)"/g)].map(([, path]) => path)
  expect(files).toEqual(['/app/style.css', '/app/main.js'])
  for (const path of files) {
    const file = await fetch(`${sandbox.url}${path}`)
    expect(file.status).toBe(200)
    expect((await file.text()).length).toBeGreaterThan(1_000)
  }
})

test('another name of the machine is sent to the one origin that the gateway allows', async () => {
  await using sandbox = open(true)
  const { port } = new URL(sandbox.url)
  const answer = await fetch(`${sandbox.url}/app`, {
    headers: { host: `localhost:${port}` },
    redirect: 'manual',
  })
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toBe(`${sandbox.url}/app`)
})

test('a sandbox of any other stack has no reference app', async () => {
  await using sandbox = open(false)
  const page = await fetch(`${sandbox.url}/app`)
  expect(await page.text()).toContain('In a real deployment the app opens here.')
  expect((await fetch(`${sandbox.url}/app/main.js`)).status).toBe(404)
})
