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
import { textBlocks } from '#infra/compose/smoke-test/runbook-text'
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

const composition = deployment()
const local = localStack()
const overlay = readComposition('compose/secrets.yaml')
const names = Object.keys(processes)

const samples: Readonly<Record<string, string>> = {
  PUBLIC_URL: 'https://api.example.org',
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

  test('a restore has the same passwords with them as with variables', async () => {
    const [block = ''] = textBlocks('restore', 'Restore')
    const dir = secretsIn(['POSTGRES_PASSWORD', 'NATS_PASSWORD_ADMIN'])
    const told = async (settings: string) => {
      writeFileSync(join(dir, 'testnet.env'), settings)
      const dc = 'dc() { echo "$@"; env | grep ^NATS_PASSWORD_ADMIN=; }'
      const child = Bun.spawn(['sh', '-ec', `${dc}\n${block}\noper main.ts`], {
        cwd: dir,
        env: { PATH: process.env.PATH ?? '' },
        stderr: 'inherit',
      })
      return new Response(child.stdout).text()
    }
    const { POSTGRES_PASSWORD: owner, NATS_PASSWORD_ADMIN: admin } = filledIn
    const inVariables = await told(`POSTGRES_PASSWORD="${owner}"\nNATS_PASSWORD_ADMIN="${admin}"\n`)
    expect(inVariables).toMatch(/:filled in@postgres.*\nNATS_PASSWORD_ADMIN=filled in\n$/s)
    expect(await told(`SECRETS_DIR=${dir}\n`)).toBe(inVariables)
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
