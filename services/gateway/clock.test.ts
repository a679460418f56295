import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toUnixSeconds } from '#platform/clock'
import { sessionSecondsMax } from '#shared/api/session'
import { waitUntil } from '#test/support/wait'
import { type Dependencies, startBackbone } from './test-support/dependencies'
import { settings } from './test-support/fixture'
import { ana, headerOf } from './test-support/wallets'

let backbone: Dependencies
let folder: string
beforeAll(async () => {
  backbone = await startBackbone()
  folder = await mkdtemp(join(tmpdir(), 'gateway-clock-'))
})
afterAll(async () => {
  await backbone[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

async function startSkewed(aheadMs: number) {
  const skew = join(folder, `skew${aheadMs}.ts`)
  await writeFile(skew, `const { now } = Date; Date.now = () => now() + ${aheadMs}`)
  const { nats, databaseUrl } = backbone
  const child = Bun.spawn([process.execPath, '--preload', skew, join(import.meta.dir, 'main.ts')], {
    env: {
      PATH: process.env.PATH ?? '',
      PUBLIC_SECRETS: 'allowed',
      ...settings,
      NATS_URL: nats.url,
      NATS_PASSWORD: nats.passwords.gateway,
      DATABASE_URL: databaseUrl,
      HTTP_PORT: '0',
      OPS_PORT: '0',
      DRAIN_MS: '0',
    },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  let log = ''
  const reading = (async () => {
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) log += part
  })()
  const port = await waitUntil('the gateway listening', () => {
    const [, found] = /"port":(\d+).*"gateway listening"/.exec(log) ?? []
    return found
  })
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await reading
    },
  }
}

const hourMs = 3_600_000

test.each([2 * hourMs, -2 * hourMs])(
  'the gateway accepts every valid session if the clock of its machine is %i ms ahead',
  async (aheadMs) => {
    await using gateway = await startSkewed(aheadMs)
    const now = toUnixSeconds(Date.now())
    const statuses: number[] = []
    for (const until of [now + 3_600, now + sessionSecondsMax - 60]) {
      const authorization = await headerOf(ana, until)
      const ask = () =>
        fetch(`${gateway.url}/me/country`, {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify({ country: 'MY' }),
        })
      // A busy machine may answer 503, after which an app retries.
      const answer = await waitUntil('an answer', async () => {
        const { status } = await ask()
        return status !== 503 && status
      })
      statuses.push(answer)
    }
    expect(statuses).toEqual([200, 200])
  },
)
