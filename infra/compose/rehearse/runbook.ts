import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { type Outside as Controls, outsideOf } from '#infra/demo/outside'
import { repositoryDir } from '#infra/local/folders'
import { freshSecret } from '#infra/local/keys'
import { waitUntil } from '#infra/local/wait'
import { type Engine, type Ran, run } from './engine'
import { provideTools } from './images'
import { type Outside, openOutside } from './outside'
import { expecting, step } from './report'
import { changes, everyDay, firstPerson, restore } from './runbook-days'
import { blocksOf } from './runbook-text'
import type { ComposeStack } from './stack'

// The runbook from an empty file of variables to a restore, by its own lines: what stands in
// infra/README.md is what runs here, in a shell as an operator has one.

const publicUrl = 'http://127.0.0.1:3000'
const [, functions = ''] = blocksOf('From nothing to the test chain')

/** A deployment of its own, with secrets of its own, before anything of it runs. */
export type Deployment = {
  readonly dir: string
  readonly infra: string
  readonly env: Map<string, string>
  /** Writes the variables and runs lines of the runbook; `more` is what the operator's shell knows. */
  readonly shell: (lines: string, more?: Readonly<Record<string, string>>) => Promise<Ran>
  readonly outside: Outside
  readonly controls: Controls
  readonly adminKey: string
}

/** Letters and digits alone, as `openssl rand -hex 24` gives them. */
const hex = () => crypto.getRandomValues(new Uint8Array(24)).toHex()

/** Everything that env.example leaves to be filled in, and what makes this one small and quick. */
function variablesOf(example: string, outside: Outside): Map<string, string> {
  const env = new Map<string, string>()
  for (const [, name = '', value = ''] of example.matchAll(/^([A-Z_]+)=(.*)$/gm))
    env.set(name, value)
  for (const name of env.keys()) if (/PASSWORD/.test(name)) env.set(name, hex())
  const treasuryKey = generatePrivateKey()
  const own = {
    PUBLIC_URL: publicUrl,
    APP_URL: 'http://127.0.0.1:3100/app',
    PROVIDER_KIND: 'sandbox',
    PROVIDER_URL: outside.providerUrl,
    PROVIDER_REQUESTS_PER_MINUTE: '60000',
    IDENTITY_API_URL: outside.providerUrl,
    RATE_SOURCES: 'fixed',
    SPREADS_BPS: 'USD/IDR=0,USD/MYR=50',
    RPC_URLS: outside.rpcUrl,
    RPC_REQUESTS_PER_SECOND: '1000',
    RPC_ETH_CALLS_PER_SECOND: '1000',
    DEPLOY_AUSD_ADDRESS: 'deploy',
    DEPLOY_TEST_FUNDS: 'yes',
    TREASURY_KEY: treasuryKey,
    TREASURY_ADDRESS: privateKeyToAddress(treasuryKey),
    LANE_KEYS: `${generatePrivateKey()},${generatePrivateKey()}`,
    BANK_DETAILS_KEYS: `k1:${crypto.getRandomValues(new Uint8Array(32)).toBase64()}`,
    QUOTE_SECRETS: hex(),
    SWEEP_AFTER_MS: '8000',
    SWEEP_EVERY_MS: '2000',
    LIST_LATEST_EVERY_MS: '5000',
  }
  for (const [name, value] of Object.entries(own)) env.set(name, value)
  return env
}

async function layDeployment(engine: Engine, stack: ComposeStack): Promise<Deployment> {
  const infra = join(stack.dir, 'infra')
  const node = join(stack.dir, 'node_modules')
  await run(['rm', '-rf', node])
  symlinkSync(join(repositoryDir, 'node_modules'), node)
  const keys = {
    PROVIDER_ID_SECRET_KEY: freshSecret('xnd_development_'),
    PROVIDER_MY_SECRET_KEY: freshSecret('xnd_development_'),
    IDENTITY_APP_TOKEN: freshSecret('sbx:'),
    IDENTITY_SECRET_KEY: hex(),
  }
  const [id, my, identity] = [hex(), hex(), hex()]
  const outside = await openOutside(engine.dir, {
    ...keys,
    GATEWAY_URL: publicUrl,
    APP_URL: publicUrl,
    PAYMENTS_CALLBACK_TOKEN_ID: id,
    PAYMENTS_CALLBACK_TOKEN_MY: my,
    IDENTITY_WEBHOOK_SECRET: identity,
  })
  const example = readFileSync(join(infra, 'env.example'), 'utf8')
  const env = variablesOf(example, outside)
  for (const [name, value] of Object.entries(keys)) env.set(name, value)
  env.set('PAYMENTS_CALLBACK_TOKENS_ID', id).set('PAYMENTS_CALLBACK_TOKENS_MY', my)
  env.set('IDENTITY_WEBHOOK_SECRETS', identity)
  const file = join(infra, 'testnet.env')
  const shell: Deployment['shell'] = (lines, more = {}) => {
    writeFileSync(file, [...env].map(([name, value]) => `${name}=${value}\n`).join(''))
    // The public .env lies beside it in the repository, and is not read: --env-file stands for it.
    return run(['bash', '-c', `set -e\n${functions}\n${lines}`], {
      cwd: infra,
      env: { PATH: `${engine.bin}:${process.env.PATH}`, PUBLIC_URL: publicUrl, ...more },
    })
  }
  const controls = outsideOf({ sandbox: outside.sandbox })
  return { dir: stack.dir, infra, env, shell, outside, controls, adminKey: generatePrivateKey() }
}

/** Lines that must end with 0, and say this. */
export async function says(run: Promise<Ran>, ...words: RegExp[]): Promise<string> {
  const { code, text } = await run
  expecting(code === 0, `exit ${code}: ${text.slice(-1_500)}`)
  for (const one of words) expecting(one.test(text), `nothing says ${one}: ${text.slice(-1_500)}`)
  return text
}

export const ready = () =>
  waitUntil(
    'the gateway being ready',
    async () => (await fetch(`${publicUrl}/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
    90_000,
    300,
  )

/** `bun run rehearse`, second part: from nothing to a deployment, its keys, its day, its restore. */
export async function rehearseRunbook(engine: Engine, stack: ComposeStack): Promise<void> {
  const made = await layDeployment(engine, stack)
  await using _outside = made.outside
  try {
    await fromNothing(engine, made)
    await firstPerson(made)
    await changes(made)
    await everyDay(made)
    await restore(made)
  } finally {
    await made.shell('dc --profile tools down -v')
  }
}

async function fromNothing(engine: Engine, made: Deployment): Promise<void> {
  const { infra, shell, env, adminKey } = made
  await step('runbook: settings names all that is missing at once', async () => {
    const whole = new Map(env)
    for (const name of ['TREASURY_KEY', 'QUOTE_SECRETS', 'POSTGRES_PASSWORD']) env.set(name, '')
    env.set('BANK_DETAILS_KEYS', 'local-only:filZMp8N7pU5mq8urpCsKeOXj1tFsvi4N0zB1au7T7A=')
    const { code, text } = await shell('dc config --quiet\ndc run --rm --build settings')
    for (const [name, value] of whole) env.set(name, value)
    expecting(code !== 0, 'it is content')
    const named = ['TREASURY_KEY', 'QUOTE_SECRETS', 'POSTGRES_PASSWORD', 'BANK_DETAILS_KEYS']
    for (const name of named) expecting(text.includes(name), `${name} is not named: ${text}`)
    return `${named.join(', ')}`
  })
  const [, deploy = ''] = blocksOf('7. Contracts')
  await step(
    'runbook: contracts are deployed',
    async () => {
      const lines = deploy.replace(/^read -rs ADMIN_KEY && /m, '').split('\n')
      const [key = '', dry = '', ...rest] = lines
      const first = await shell(`${key}\n${dry}`, { ADMIN_KEY: adminKey })
      expecting(
        first.text.includes('planned and not done'),
        `the dry run says nothing: ${first.text.slice(-1_500)}`,
      )
      const text = await says(
        shell(`${key}\n${rest.join('\n')}`, { ADMIN_KEY: adminKey }),
        /complete/,
      )
      for (const [, name = '', value = ''] of text.matchAll(/^\s*([A-Z_]+)=(\S+)$/gm))
        env.set(name, value)
      await says(
        shell(`${key}\n${rest[0]}`, { ADMIN_KEY: adminKey }),
        /complete: nothing is missing/,
      )
      return `credit line ${env.get('CREDIT_LINE_ADDRESS')}, a second run sends nothing`
    },
    { vital: true },
  )
  await step('runbook: secrets as files', async () => {
    const before = new Map(env)
    env.set('SECRETS_DIR', secretFiles(infra, env))
    const [withFiles = ''] = blocksOf('5. Keys').slice(1)
    const started = await shell(`${withFiles}\ndc config --quiet\ndc up -d --build`)
    const well = started.code === 0 && (await ready().then(() => true))
    const shown = await shell(`${withFiles}\ndc config`)
    await shell(`${withFiles}\ndc down -v`)
    for (const [name, value] of before) env.set(name, value)
    expecting(well, started.text.slice(-2_000))
    expecting(!shown.text.includes(before.get('TREASURY_KEY')!), 'a key is shown')
    return 'everything starts, and no secret is in the configuration'
  })
  await step(
    'runbook: start',
    async () => {
      const [start = '', seen = '', probe = ''] = blocksOf('8. Start')
      await provideTools(engine)
      await says(shell(start))
      await ready()
      const text = await says(shell(seen), /"status":"ready"/, /payments/, /WEBHOOKS/)
      for (const name of ['gateway', 'books', 'indexer-reader'])
        expecting(text.includes(name), name)
      const token = { TOKEN: env.get('PAYMENTS_CALLBACK_TOKENS_ID')! }
      await says(shell(`${probe}\n${probe}`, token), /recorded/, /duplicate/)
      await says(shell('bus stream subjects WEBHOOKS'), /webhooks\.payments\.ID\./)
      return 'ready, all figures there, a webhook is recorded once'
    },
    { vital: true },
  )
}

/** Every secret of compose/secrets.yaml in a file of its own, and out of the variables. */
function secretFiles(infra: string, env: Map<string, string>): string {
  const dir = join(infra, 'secrets')
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  chownSync(dir, 1000, 1000)
  for (const name of secretNames()) {
    const path = join(dir, name)
    writeFileSync(path, env.get(name.toUpperCase()) ?? '')
    const isPostgres = name === 'postgres_password'
    chmodSync(path, isPostgres ? 0o440 : 0o400)
    chownSync(path, 1000, isPostgres ? 70 : 1000)
    env.delete(name.toUpperCase())
  }
  return dir
}

const secretNames = () => {
  const text = readFileSync(join(repositoryDir, 'infra/compose/secrets.yaml'), 'utf8')
  const { secrets } = Bun.YAML.parse(text) as { secrets: Record<string, object> }
  return Object.keys(secrets)
}
