import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  activeServices,
  deployment,
  environmentOf,
  infraDir,
  localStack,
  localVariables,
  merged,
  readComposition,
  wordsOf,
} from '#infra/compose/composition'
import { interpolate, readEnvFile, type Variables } from '#infra/compose/interpolation'
import { processes } from '#infra/configuration/processes'
import { testnetValues } from '#infra/configuration/testnet'
import { devKey } from '#infra/local/keys'
import { natsUsers, passwordVariable } from '#infra/nats/server-environment'
import { operatorSecrets } from '#infra/operations/cli/connection'
import { operatorAccess } from '#infra/operations/cli/operator'
import { booksDatabaseUrl, operatorPlace } from '#infra/operations/place'
import { backboneSettings, faultsOf } from '#infra/operations/settings'
import { loadConfig } from '#infra/sandbox/config'
import { type Fields, readConfig } from '#platform/config'
import { liveAusd, testAusd } from '#shared/chain/chain-id'

const composition = deployment()
const local = localStack()
const overlay = readComposition('compose/secrets.yaml')
const names = Object.keys(processes)

const samples: Readonly<Record<string, string>> = {
  PROVIDER_ID_SECRET_KEY: 'xnd_development_id',
  PROVIDER_MY_SECRET_KEY: 'xnd_development_my',
  PAYMENTS_CALLBACK_TOKENS_ID: 'token of the Indonesian account',
  PAYMENTS_CALLBACK_TOKENS_MY: 'token of the Malaysian account',
  IDENTITY_APP_TOKEN: 'sbx:token',
  PUBLIC_URL: 'https://api.example.org',
  SUPPORT_CONTACT: 'https://example.org/help',
  APP_URL: 'https://app.example.org',
  TREASURY_ADDRESS: `0x${'1'.repeat(40)}`,
  CREDIT_LINE_ADDRESS: `0x${'2'.repeat(40)}`,
  TREASURY_KEY: devKey('somebody'),
  LANE_KEYS: `${devKey('one')},${devKey('two')}`,
  QUOTE_SECRETS: 's'.repeat(32),
  BANK_DETAILS_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
  GENESIS_HASH: `0x${'3'.repeat(64)}`,
  DEPLOY_BLOCK: '41000000',
  SPREADS_BPS: 'USD/IDR=0,USD/MYR=50',
}
const example = readEnvFile(readFileSync(join(infraDir, 'env.example'), 'utf8'))
const filledIn: Variables = Object.fromEntries(
  Object.entries(example).map(([name, value]) => [name, value || (samples[name] ?? 'filled in')]),
)
const proposed = [...testnetValues.keys()].filter((name) => Object.values(processes).some((fields) => name in fields))
/** Adds the variables that the shell gives to `deploy`. */
const withAdmin = (variables: Variables): Variables => ({ ADMIN_KEY: devKey('x'), ...variables })

describe('compose gives each process', () => {
  test.each(names)('%s: exactly the variables that it reads', (name) => {
    const told = Object.keys(composition.services[name]!.environment ?? {})
    expect(told.sort()).toEqual(Object.keys(processes[name]!).sort())
  })

  test.each(names)('%s: everything it needs in a local stack', (name) => {
    const env = environmentOf(local.services[name]!, localVariables())
    expect(() => readConfig(name, processes[name]!, env)).not.toThrow()
  })

  test('the sandbox: everything it needs, and the secrets of the services', () => {
    const variables = localVariables()
    const told = loadConfig(environmentOf(local.services.sandbox!, variables))
    expect(told.secretKeys.ID).toBe(variables.PROVIDER_ID_SECRET_KEY!)
    expect(told.callbackTokens.MY).toBe(variables.PAYMENTS_CALLBACK_TOKENS_MY!)
    expect(told.identity.webhookSecret).toBe(variables.IDENTITY_WEBHOOK_SECRETS!)
  })

  test.each(names)('%s: everything it needs, once env.example is filled in', (name) => {
    const env = environmentOf(composition.services[name]!, withAdmin(filledIn))
    expect(() => readConfig(name, processes[name]!, env)).not.toThrow()
  })

  test.each(proposed)('%s: the values that env.example proposes', (name) => {
    const told = Object.values(activeServices(composition, [])).flatMap(
      (service) => environmentOf(service, filledIn)[name] ?? [],
    )
    expect([...new Set(told)]).toEqual([filledIn[name]!])
  })
})

describe('the settings check of a deployment', () => {
  const faults = (variables: Variables, from = composition) =>
    faultsOf(environmentOf(from.services.settings!, variables))
  const startedWith = Object.keys(processes).filter((name) => name !== 'deploy')
  const withoutDefault = [
    'POSTGRES_PASSWORD',
    ...Object.keys(filledIn).filter((name) => /^(NATS|DATABASE)_PASSWORD/.test(name)),
    ...startedWith.flatMap((name) =>
      Object.entries(processes[name]!)
        .filter(([key, { fallback }]) => fallback === undefined && key in filledIn)
        .map(([key]) => key),
    ),
  ]
  /** Variables that env.example asks to fill in. */
  const leftOpen = Object.entries(example).flatMap(([name, value]) => (value === '' ? [name] : []))

  test('passes once env.example is filled in, and for the local .env', () => {
    expect(faults(filledIn)).toEqual([])
    expect(faults(localVariables(), local)).toEqual([])
  })

  test.each([...new Set([...withoutDefault, ...leftOpen])])('reports %s as missing if it is empty', (lacking) => {
    for (const value of ['', ' ']) {
      const told = faults({ ...filledIn, [lacking]: value })
      expect(told).toEqual([expect.stringMatching(new RegExp(`^${lacking} (is not set|is empty|must be set)`))])
    }
  })

  test('reports everything missing at once', () => {
    const told = faults({ STACK: 'testnet' }).join('\n')
    expect(withoutDefault.filter((name) => !told.includes(`${name} `))).toEqual([])
  })

  const secrets = Object.keys(localVariables()).filter(
    (name) => /PASSWORD|TOKEN|SECRET|_KEYS?$/.test(name) && name !== 'ADMIN_KEY',
  )
  test.each(secrets)('security: with the %s of this repository fails and names it', (name) => {
    const told = faults({ ...filledIn, [name]: localVariables()[name] })
    expect(told).toEqual([expect.stringMatching(new RegExp(`^${name} is public`))])
  })

  const live: Variables = {
    ...filledIn,
    DEPLOYMENT: 'live',
    CHAIN_ID: '143',
    AUSD_ADDRESS: liveAusd,
    RPC_URLS: 'https://rpc.example.org,https://rpc.example.net',
    PROVIDER_ID_SECRET_KEY: 'xnd_production_id',
    PROVIDER_MY_SECRET_KEY: 'xnd_production_my',
    IDENTITY_APP_TOKEN: 'prd:token',
  }
  const persona = { IDENTITY_PROVIDER: 'persona', IDENTITY_LEVEL: 'itmpl_a', IDENTITY_APP_TOKEN: undefined }
  const sandboxed: Variables = { ...filledIn, DEPLOYMENT: 'local', PROVIDER_URL: 'http://sandbox:3100' }

  test('passes for a deployment with real money', () => {
    expect(faults(live)).toEqual([])
    expect(faults({ ...live, ...persona, IDENTITY_SECRET_KEY: 'persona_production_a' })).toEqual([])
  })

  test.each([
    ['a word that is no deployment', live, { DEPLOYMENT: 'production' }, 'DEPLOYMENT must be one of local, test, live'],
    [
      'real AUSD, test key of Indonesia',
      live,
      { PROVIDER_ID_SECRET_KEY: 'xnd_development_a' },
      'PROVIDER_ID_SECRET_KEY must be a live key',
    ],
    [
      'real AUSD, test key of Malaysia',
      live,
      { PROVIDER_MY_SECRET_KEY: 'xnd_development_a' },
      'PROVIDER_MY_SECRET_KEY must be a live key',
    ],
    ['real AUSD, sandbox identities', live, { IDENTITY_APP_TOKEN: 'sbx:a' }, 'IDENTITY_APP_TOKEN must begin with prd:'],
    [
      'real AUSD, sandbox identities of Persona',
      live,
      { ...persona, IDENTITY_SECRET_KEY: 'persona_sandbox_a' },
      'IDENTITY_SECRET_KEY must begin with persona_production_',
    ],
    ['live keys, test chain', live, { CHAIN_ID: '10143' }, 'CHAIN_ID must be 143'],
    ['live keys, AUSD of the test chain', live, { AUSD_ADDRESS: testAusd }, `AUSD_ADDRESS must be ${liveAusd}`],
    ['live keys, any token', live, { AUSD_ADDRESS: `0x${'4'.repeat(40)}` }, `AUSD_ADDRESS must be ${liveAusd}`],
    [
      'one key for both live accounts',
      live,
      { PROVIDER_MY_SECRET_KEY: 'xnd_production_id' },
      'PROVIDER_MY_SECRET_KEY must be of the Malaysian account',
    ],
    [
      'one callback token for both accounts',
      live,
      { PAYMENTS_CALLBACK_TOKENS_MY: 'new, token of the Indonesian account' },
      'PAYMENTS_CALLBACK_TOKENS_MY must differ',
    ],
    [
      'a key that is no key of the provider',
      live,
      { PROVIDER_ID_SECRET_KEY: 'sk_live_a' },
      'PROVIDER_ID_SECRET_KEY must be a live key',
    ],
    [
      'real money, a chain that may be reset',
      live,
      { GENESIS_HASH: 'unchecked' },
      'GENESIS_HASH must be the hash of block 0',
    ],
    ['real money, fixed rates', live, { RATE_SOURCES: 'fixed' }, 'RATE_SOURCES may not contain fixed'],
    ['real money, an app over http', live, { APP_URL: 'http://app.example.org' }, 'APP_URL must begin with https://'],
    [
      'real money, an address over http',
      live,
      { PUBLIC_URL: 'http://api.example.org' },
      'PUBLIC_URL must begin with https://',
    ],
    [
      'real money, an origin over http',
      live,
      { CORS_ORIGINS: 'https://app.example.org,http://localhost:5173' },
      'CORS_ORIGINS must begin with https://',
    ],
    [
      'real money, a provider over http',
      live,
      { PROVIDER_URL: 'http://sandbox:3100' },
      'PROVIDER_URL must begin with https://',
    ],
    [
      'real money, identities over http',
      live,
      { IDENTITY_API_URL: 'http://sandbox:3100' },
      'IDENTITY_API_URL must begin with https://',
    ],
    ['real money, rates over http', live, { BNM_URL: 'http://bnm.example.org' }, 'BNM_URL must begin with https://'],
    [
      'real money, more calls than the provider allows',
      live,
      { PROVIDER_REQUESTS_PER_MINUTE: '601' },
      'PROVIDER_REQUESTS_PER_MINUTE must be at most 600',
    ],
    [
      'real money, a checkout of a minute',
      live,
      { CHECKOUT_TTL_MS: '60000' },
      'CHECKOUT_TTL_MS must be at least 600000',
    ],
    [
      'test mode, a live key',
      filledIn,
      { PROVIDER_ID_SECRET_KEY: 'xnd_production_a' },
      'PROVIDER_ID_SECRET_KEY must be a test key',
    ],
    [
      'test mode, a live key of Malaysia alone',
      filledIn,
      { PROVIDER_MY_SECRET_KEY: 'xnd_production_a' },
      'PROVIDER_MY_SECRET_KEY must be a test key',
    ],
    [
      'test mode, real identities',
      filledIn,
      { IDENTITY_APP_TOKEN: 'prd:a' },
      'IDENTITY_APP_TOKEN must begin with sbx:',
    ],
    [
      'test mode, real identities of Persona',
      filledIn,
      { ...persona, IDENTITY_SECRET_KEY: 'persona_production_a' },
      'IDENTITY_SECRET_KEY must begin with persona_sandbox_',
    ],
    ['test mode, live chain', filledIn, { CHAIN_ID: '143' }, 'CHAIN_ID must be 10143'],
    [
      'test mode, AUSD of the live chain',
      filledIn,
      { AUSD_ADDRESS: liveAusd.toLowerCase() },
      'AUSD_ADDRESS must not be the AUSD of the live chain',
    ],
    [
      'test mode, one key for both accounts',
      filledIn,
      { PROVIDER_MY_SECRET_KEY: 'xnd_development_id' },
      'PROVIDER_MY_SECRET_KEY must be of the Malaysian account',
    ],
    [
      'test mode, more calls than the provider allows',
      filledIn,
      { PROVIDER_REQUESTS_PER_MINUTE: '600' },
      'PROVIDER_REQUESTS_PER_MINUTE must be at most 60',
    ],
    ['test mode, fixed rates', filledIn, { RATE_SOURCES: 'fixed' }, 'RATE_SOURCES may not contain fixed'],
    [
      'one machine, a live key',
      sandboxed,
      { PROVIDER_ID_SECRET_KEY: 'xnd_production_a' },
      'PROVIDER_ID_SECRET_KEY must not be a live key',
    ],
    [
      'one machine, the real provider',
      sandboxed,
      { PROVIDER_URL: 'https://api.xendit.co' },
      'PROVIDER_URL must be the sandbox',
    ],
    [
      'one machine, real identities',
      sandboxed,
      { IDENTITY_APP_TOKEN: 'prd:a' },
      'IDENTITY_APP_TOKEN must not begin with prd:',
    ],
    ['one machine, the live chain', sandboxed, { CHAIN_ID: '143' }, 'CHAIN_ID must not be 143'],
  ] as const)('refuses %s', (_, from, change, words) => {
    expect(faults({ ...from, ...change } as Variables)).toEqual([expect.stringContaining(words)])
  })

  test.each([
    ['a hold of a minute', { HOLD_SECONDS: '60' }, 'HOLD_SECONDS must be at least 86400'],
    ['cycles of a minute', { MIN_CYCLE_SECONDS: '60' }, 'MIN_CYCLE_SECONDS must be at least 86400'],
    ['minted AUSD', { DEPLOY_TEST_FUNDS: 'yes' }, 'DEPLOY_TEST_FUNDS must be no'],
    ['a stand-in for AUSD', { DEPLOY_AUSD_ADDRESS: 'deploy' }, 'AUSD_ADDRESS must be 0x0000'],
  ] as const)('security: deploys no credit line for real money with %s', (_, change, words) => {
    const terms = { HOLD_SECONDS: '604800', MIN_CYCLE_SECONDS: '86400', DEPLOY_AUSD_ADDRESS: liveAusd }
    const read = (variables: Variables) =>
      readConfig('deploy', processes.deploy!, environmentOf(composition.services.deploy!, withAdmin(variables)))
    expect(() => read({ ...live, ...terms })).not.toThrow()
    expect(() => read({ ...live, ...terms, ...change })).toThrow(words)
  })

  test.each(['test', 'live'])(
    'security: allows public secrets and plain connections nowhere with DEPLOYMENT=%s',
    (deployment) => {
      const env = { DEPLOYMENT: deployment, PUBLIC_SECRETS: 'allowed', UNENCRYPTED_HOSTS: '*' }
      const publicKey = { KEY: { ...processes['chain-relayer']!.TREASURY_KEY! } }
      expect(() => readConfig('x', publicKey, { ...env, KEY: localVariables().TREASURY_KEY })).toThrow('KEY is public')
      const plain = { NATS_URL: processes['chain-relayer']!.NATS_URL! }
      expect(() => readConfig('x', plain, { ...env, NATS_URL: 'nats://nats.example.org:4222' })).toThrow(
        'must be tls://',
      )
    },
  )

  test('security: with the secrets of .env fails, whatever else is right', () => {
    expect(faults({ ...filledIn, STACK: 'local' })).toEqual([expect.stringContaining('STACK is local')])
  })
})

describe('secrets from files', () => {
  test('are secrets, each under the file name of its variable', () => {
    for (const [name, { environment, secrets }] of Object.entries(overlay.services)) {
      const files = Object.entries(environment ?? {}).map(([variable, path]) => {
        const field = fieldsOf(name)[variable.replace(/_FILE$/, '')]
        expect(field?.secret).toBe(true)
        return path!.replace('/run/secrets/', '')
      })
      if (name === 'nats') continue
      expect(files.sort()).toEqual([...(secrets ?? [])].sort())
      for (const file of files) expect(overlay.secrets).toHaveProperty(file)
    }
  })

  const others = ['nats', 'nats-box', 'postgres', 'ops']
  const ours = Object.keys(overlay.services).filter((name) => !others.includes(name))
  test.each(ours)('%s starts with them instead of variables', (name) => {
    const dir = secretsIn(inFiles)
    const env = environmentWith(dir, name)
    if (name === 'settings') expect(faultsOf(env)).toEqual([])
    else expect(() => readConfig(name, processes[name]!, env)).not.toThrow()
    expect(Object.values(env)).not.toContain(filledIn.TREASURY_KEY)
    rmSync(dir, { recursive: true })
  })

  test('an operator reaches the same deployment with them as with variables', () => {
    const dir = secretsIn(inFiles)
    const inVariables = environmentOf(composition.services.ops!, filledIn)
    const inFilesOnly = environmentWith(dir, 'ops')
    expect(Object.keys(inFilesOnly).filter((key) => inFiles.includes(key))).toEqual([])
    for (const read of [operatorAccess, operatorPlace, operatorSecrets, booksDatabaseUrl])
      expect(read(inFilesOnly)).toEqual(read(inVariables))
    rmSync(dir, { recursive: true })
  })

  test('nats-server gets each of its passwords in its own syntax', async () => {
    const dir = secretsIn(inFiles)
    const { entrypoint } = withFiles.services.nats!
    const [shell, flag, script] = wordsOf(entrypoint, filledIn)
    const printing = script!.replaceAll('/run/secrets', dir).replace('exec nats-server "$@"', 'env')
    const child = Bun.spawn([shell!, flag!, printing], { env: { PATH: process.env.PATH ?? '' } })
    const told = readEnvFile(await new Response(child.stdout).text())
    for (const user of natsUsers) expect(told[passwordVariable(user)]).toBe(`"${filledIn[passwordVariable(user)]}"`)
    rmSync(dir, { recursive: true })
  })

  test.each(['a variable', 'a file'])('nats-box signs in with the password from %s', async (from) => {
    const dir = secretsIn(inFiles)
    const { entrypoint, command, environment } = (from === 'a file' ? withFiles : composition).services['nats-box']!
    const [shell, flag] = wordsOf(entrypoint, filledIn)
    const [script] = wordsOf(command, filledIn)
    const printing = `nats() { echo "$@"; }\n${script!.replace('exec sleep infinity', 'true')}`
    const files = { NATS_PASSWORD_OPS_FILE: join(dir, 'nats_password_ops') }
    const inVariable = { NATS_PASSWORD_OPS: filledIn.NATS_PASSWORD_OPS! }
    expect(Object.keys(environment!)).toContain(from === 'a file' ? 'NATS_PASSWORD_OPS_FILE' : 'NATS_PASSWORD_OPS')
    const child = Bun.spawn([shell!, flag!, printing], {
      env: { PATH: process.env.PATH ?? '', ...(from === 'a file' ? files : inVariable) },
    })
    const said = await new Response(child.stdout).text()
    expect(said).toContain(`--user ops --password ${filledIn.NATS_PASSWORD_OPS} `)
    rmSync(dir, { recursive: true })
  })

  const inFiles = Object.keys(overlay.secrets!).map((file) => file.toUpperCase())
  /** Writes a file for each variable, as an operator creates them. */
  function secretsIn(variables: readonly string[]): string {
    const dir = mkdtempSync(join(tmpdir(), 'secrets-'))
    for (const variable of variables) writeFileSync(join(dir, variable.toLowerCase()), `${filledIn[variable] ?? ''}\n`)
    return dir
  }
  const withFiles = merged(composition, overlay)
  function environmentWith(dir: string, name: string): Record<string, string> {
    const rest = Object.fromEntries(
      Object.entries(withAdmin(filledIn)).filter(([variable]) => !inFiles.includes(variable)),
    )
    const env = environmentOf(withFiles.services[name]!, rest)
    return Object.fromEntries(Object.entries(env).map(([key, value]) => [key, value.replace('/run/secrets', dir)]))
  }
  /** Returns the fields of a process. The settings and the operator's variables are those of all processes. */
  const fieldsOf = (name: string): Fields => {
    if (name === 'settings' || name === 'ops')
      return { ...backboneSettings, ...Object.assign({}, ...Object.values(processes)) }
    return processes[name] ?? backboneSettings
  }
})

describe('interpolation', () => {
  /** Interpolates a text in which `@` stands for `$`, which a linter would take for a template. */
  const put = (text: string) => interpolate(text.replaceAll('@', '$'), { A: 'b', E: '' })

  test.each([
    ['a@{A}c', 'abc'],
    ['@A@@A', 'b$A'],
    ['@{N-d}@{E-d}@{E:-e}', 'de'],
    ['@{A:?}', 'b'],
  ])('%s becomes %s', (text, expected) => {
    expect(put(text)).toBe(expected)
  })

  test.each(['@{N?no}', '@{E:?no}'])('%s is refused, by name', (text) => {
    expect(() => put(text)).toThrow(/is not set: no/)
  })
})
