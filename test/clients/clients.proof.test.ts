import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { RunningStack } from '#infra/local/stack'
import { openSession } from '#shared/client/session'
import { verifiedUser } from '../support/people'
import { loadOnPhone } from '../support/phone'
import { sharedStack } from '../support/stack'

// Each language generates a client from the OpenAPI document, compiles it, and plays the story in its folder: prices, the account,
// one quote and top-up, the item, and a refusal. Versions of generators are fixed, because their output changes.

type Language = {
  readonly language: 'python' | 'go' | 'kotlin'
  readonly needs: string
  readonly steps: readonly (readonly string[])[]
}

const datamodel = 'bin/datamodel-codegen --input openapi.json --input-file-type openapi --output models.py'
const languages: readonly Language[] = [
  {
    language: 'python',
    needs: 'python3',
    steps: [
      ['python3', '-m', 'venv', '.'],
      ['bin/pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt'],
      'bin/openapi-python-client generate --path openapi.json --meta none --output-path api_client'.split(' '),
      [...datamodel.split(' '), '--output-model-type', 'pydantic_v2.BaseModel', '--formatters', 'builtin'],
      ['bin/python', 'story.py'],
    ],
  },
  {
    language: 'go',
    needs: 'go',
    steps: [
      'go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -generate types,client -package api -o api/api.go openapi.json'.split(
        ' ',
      ),
      ['go', 'run', '-mod=mod', '.'],
    ],
  },
  {
    language: 'kotlin',
    needs: 'mvn',
    steps: [['mvn', '--quiet', '--batch-mode', 'compile', 'exec:java']],
  },
]

const folder = mkdtempSync(join(tmpdir(), 'clients-'))
let stack: RunningStack
let person: Person
let document: string
beforeAll(async () => {
  stack = await sharedStack()
  person = await verifiedUser(stack)
  document = await (await fetch(`${stack.info.gateway}/openapi.json`)).text()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function run(words: readonly string[], cwd: string, env: Record<string, string>): Promise<string> {
  const child = Bun.spawn([...words], { cwd, env: { ...process.env, ...env }, stdout: 'pipe', stderr: 'pipe' })
  const [said, complained] = await Promise.all([child.stdout, child.stderr].map((one) => new Response(one).text()))
  if ((await child.exited) !== 0) throw new Error(`${words.join(' ')} failed:\n${said}${complained}`)
  return said!
}

for (const { language, needs, steps } of languages) {
  const isHere = Bun.which(needs) !== null
  if (!isHere) console.warn(`${needs} not found, so no client was generated for ${language}`)
  test.if(isHere)(`a client that ${language} generates from the OpenAPI document opens a top-up`, async () => {
    const own = join(folder, language)
    cpSync(join(import.meta.dir, language), own, { recursive: true })
    writeFileSync(join(own, 'openapi.json'), document)
    mkdirSync(join(own, 'api'), { recursive: true })
    const env = { BASE_URL: stack.info.gateway, SESSION: await openSession(person.account).header() }
    let said = ''
    for (const step of steps) said = await run(step, own, env)
    const story = JSON.parse(said.split('\n').findLast((line) => line.startsWith('{'))!)
    expect(story).toEqual({
      chainId: stack.info.chain.chainId,
      rate: '16250',
      wallet: person.wallet,
      cycle: null,
      paymentId: expect.stringMatching(/^pay_/),
      status: 'awaiting_payment',
      inFlight: true,
      refused: [400, 'quote_used', 'This quote has already been used.'],
    })
    await outsideOf(stack.info).pay(story.paymentId, 'QRIS')
    expect(await person.api.waitFor(story.paymentId, { everyMs: 100 })).toMatchObject({ status: 'credited' })
  })
}

test('the client that apps install is bundled by Metro, compiled for Hermes, and opens a top-up from the bundle', async () => {
  const own = join(folder, 'react-native')
  cpSync(join(import.meta.dir, 'react-native'), own, { recursive: true })
  const installed = await fetch(`${stack.info.gateway}/docs/client.tgz`)
  writeFileSync(join(own, 'client.tgz'), await installed.bytes())
  // viem is a peer of the package for its types alone.
  const flags = ['--silent', '--no-audit', '--no-fund', '--no-package-lock', '--legacy-peer-deps']
  await run(['npm', 'install', ...flags, './client.tgz'], own, {})
  const build = ['build', 'index.js', '--platform', 'android', '--dev', 'false', '--out', 'bundle']
  await run(['node_modules/.bin/metro', ...build], own, {})
  const hermes = `node_modules/hermes-compiler/hermesc/${hermesOf(process.platform)}/hermesc`
  await run([hermes, '-O', '-emit-binary', '-out', 'bundle.hbc', 'bundle.js'], own, {})

  const { client } = loadOnPhone({ bundle: join(own, 'bundle.js') })
  const { account } = person
  const app = client.openClient({ baseUrl: stack.info.gateway, account })
  const quote = await app.quote('USD/IDR')
  if (!('ok' in quote)) throw new Error('no quote')
  const topup = await app.topUp({ amount: '500000', method: 'qr', quoteId: quote.ok.id })
  expect(topup).toMatchObject({ ok: { paymentId: expect.stringMatching(/^pay_/) } })
})

/** Returns the folder of Hermes' compiler for a platform. */
const hermesOf = (platform: NodeJS.Platform) => (platform === 'darwin' ? 'osx-bin' : 'linux64-bin')
