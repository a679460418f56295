import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import { repositoryDir } from '#infra/local/folders'
import { freshSecret } from '#infra/local/keys'
import { waitUntil } from '#infra/local/wait'
import { type Engine, type Ran, run } from './engine'
import { type ExternalParts, freshEventsSecret, openOutside } from './external'
import { expecting } from './report'
import { blockOf } from './runbook-text'
import type { ComposeStack } from './stack'

/** Port 3000, unless the shell sets another, for example beside a stack of `bun run start`. */
const gatewayPort = process.env.GATEWAY_PORT || '3000'
export const publicUrl = `http://127.0.0.1:${gatewayPort}`
const functions = blockOf('functions')

export type RehearsedDeployment = {
  readonly dir: string
  readonly infra: string
  readonly env: Map<string, string>
  readonly shell: (lines: string, more?: Readonly<Record<string, string>>) => Promise<Ran>
  readonly outside: ExternalParts
  readonly controls: ExternalControls
  readonly adminKey: string
  /** Settings with which the gateway sends its events to the sandbox. */
  readonly events: { readonly EVENTS_URL: string; readonly EVENTS_SECRETS: string }
}

/** Like `openssl rand -hex 24`. */
export const hex = () => crypto.getRandomValues(new Uint8Array(24)).toHex()

function variablesOf(example: string, outside: ExternalParts): Map<string, string> {
  const env = new Map<string, string>()
  for (const [, name = '', value = ''] of example.matchAll(/^([A-Z_]+)=(.*)$/gm)) env.set(name, value)
  for (const name of env.keys()) if (/PASSWORD|STORE_KEY/.test(name)) env.set(name, hex())
  const treasuryKey = generatePrivateKey()
  const own = {
    GATEWAY_PORT: gatewayPort,
    PUBLIC_URL: publicUrl,
    SUPPORT_CONTACT: 'help@example.org',
    APP_URL: 'http://127.0.0.1:3100/app',
    DEPLOYMENT: 'local',
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
    TREASURY_AUSD_MICRO: '1000000000000',
    TREASURY_KEY: treasuryKey,
    TREASURY_ADDRESS: privateKeyToAddress(treasuryKey),
    LANE_KEYS: `${generatePrivateKey()},${generatePrivateKey()}`,
    BANK_DETAILS_KEYS: `k1:${crypto.getRandomValues(new Uint8Array(32)).toBase64()}`,
    QUOTE_SECRETS: hex(),
    RECHECK_AFTER_MS: '8000',
    RECHECK_EVERY_MS: '2000',
    PROVIDER_LIST_LATEST_EVERY_MS: '5000',
  }
  for (const [name, value] of Object.entries(own)) env.set(name, value)
  return env
}

export async function layDeployment(engine: Engine, stack: ComposeStack): Promise<RehearsedDeployment> {
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
  const eventsSecret = freshEventsSecret()
  const outside = await openOutside(engine.dir, {
    ...keys,
    GATEWAY_URL: publicUrl,
    APP_URL: publicUrl,
    PAYMENTS_CALLBACK_TOKEN_ID: id,
    PAYMENTS_CALLBACK_TOKEN_MY: my,
    IDENTITY_WEBHOOK_SECRET: identity,
    EVENTS_SECRETS: eventsSecret,
  })
  const example = readFileSync(join(infra, 'env.example'), 'utf8')
  const env = variablesOf(example, outside)
  for (const [name, value] of Object.entries(keys)) env.set(name, value)
  env.set('PAYMENTS_CALLBACK_TOKENS_ID', id).set('PAYMENTS_CALLBACK_TOKENS_MY', my)
  env.set('IDENTITY_WEBHOOK_SECRETS', identity)
  const file = join(infra, 'testnet.env')
  const shell: RehearsedDeployment['shell'] = (lines, more = {}) => {
    writeFileSync(file, [...env].map(([name, value]) => `${name}=${value}\n`).join(''))
    // --env-file replaces the public .env in the same folder.
    return run(['bash', '-c', `set -e\n${functions}\n${lines}`], {
      cwd: infra,
      env: { PATH: `${engine.bin}:${process.env.PATH}`, PUBLIC_URL: publicUrl, ...more },
    })
  }
  const controls = outsideOf({ sandbox: outside.sandbox })
  const events = { EVENTS_URL: `${outside.providerUrl}/events`, EVENTS_SECRETS: eventsSecret }
  return { dir: stack.dir, infra, env, shell, outside, controls, adminKey: generatePrivateKey(), events }
}

export async function says(run: Promise<Ran>, ...words: RegExp[]): Promise<string> {
  const { code, text } = await run
  expecting(code === 0, `exit ${code}: ${text.slice(-1_500)}`)
  for (const one of words) expecting(one.test(text), `no ${one} in the output: ${text.slice(-1_500)}`)
  return text
}

export const ready = () =>
  waitUntil(
    'the gateway being ready',
    async () => (await fetch(`${publicUrl}/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
    90_000,
    300,
  )
