import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { localStack } from '#infra/compose/composition'
import { repositoryDir } from '#infra/local/folders'
import { runtimeSettings } from '#infra/local/stack/runtime'
import { serviceNames } from '#shared/messages/topic'
import { loads, reachedFrom } from '../imports'
import { copiesOf, isSent, ourStages, readDockerfile, readIgnore, servicesStage } from './dockerfile'

const stages = ourStages()
const image = servicesStage()
const copied = copiesOf(image).flatMap(({ sources }) => sources)
const packageJson = JSON.parse(readFileSync(join(repositoryDir, 'package.json'), 'utf8'))
const inImage = (path: string) =>
  isSent(path) && copied.some((source) => path === source || path.startsWith(`${source}/`))

const programs = [
  ...new Set(
    Object.values(localStack().services)
      .flatMap(({ command, healthcheck }) => [...(command ?? []), ...(healthcheck?.test ?? [])])
      .map((word) => word.replace(/^bundles\/(.+)\.js$/, 'services/$1/main.ts'))
      .filter((word) => word.endsWith('.ts')),
  ),
  'infra/operations/cli/main.ts',
  'infra/operations/cli/wallets.ts',
  'infra/operations/restore/main.ts',
  'services/indexer-reader/rebuild.ts',
  'infra/reference-app/page/main.ts',
]

const filesUnder = (path: string): string[] =>
  statSync(join(repositoryDir, path)).isDirectory()
    ? [...new Glob('**/*').scanSync({ cwd: join(repositoryDir, path), dot: true })].map((file) => `${path}/${file}`)
    : [path]

describe('the image', () => {
  test.each(stages.map(({ image: name }) => name))('is built on %s, the pinned Bun or a stage before', (name) => {
    const before = stages.map((stage) => stage.name)
    expect([`oven/bun:${packageJson.devDependencies['bun-types']}-slim`, ...before]).toContain(name)
  })

  test('has the runtime settings of a local stack', () => {
    const set = image.instructions.filter(({ word }) => word === 'ENV').flatMap(({ rest }) => rest.split(' '))
    for (const [name, value] of Object.entries(runtimeSettings)) expect(set).toContain(`${name}=${value}`)
  })

  test('is the default target, and another one adds anvil to it', () => {
    const [chain, last] = stages.slice(-2)
    expect(last).toEqual({ image: 'services', name: undefined, instructions: [] })
    expect(chain).toMatchObject({ image: 'services', name: localStack().services.chain!.build!.target! })
    const words = chain!.instructions.map(({ word, rest }) => `${word} ${rest}`)
    expect(words).toEqual(['COPY --from=anvil /app/node_modules/@foundry-rs node_modules/@foundry-rs'])
    expect(Object.keys(packageJson.optionalDependencies)).toEqual(['@foundry-rs/anvil'])
  })

  test.each(stages.flatMap(copiesOf).flatMap(({ sources }) => sources))(
    'copies %s, which exists and is sent to the builder',
    (source) => {
      expect(existsSync(join(repositoryDir, source))).toBe(true)
      expect(filesUnder(source).some(isSent)).toBe(true)
    },
  )

  test('runs as a user who owns nothing in it, without its own command', () => {
    const users = image.instructions.filter(({ word }) => word === 'USER')
    expect(users.map(({ rest }) => rest)).toEqual(['bun'])
    const last = image.instructions.findLastIndex(({ word }) => ['RUN', 'COPY'].includes(word))
    expect(image.instructions.findIndex(({ word }) => word === 'USER')).toBeGreaterThan(last)
    expect(image.instructions.filter(({ rest }) => rest.includes('--chown'))).toEqual([])
  })

  test('installs exactly bun.lock, without scripts and without tools', () => {
    const installs = stages.flatMap(({ instructions }) => instructions.filter(({ rest }) => /^bun install/.test(rest)))
    const all = 'bun install --production --frozen-lockfile --ignore-scripts'
    expect(installs.map(({ rest }) => rest)).toEqual([`${all} --omit=optional`, all])
  })

  test('bundles the services after their sources and packages, where compose runs them', () => {
    const { instructions } = image
    const at = instructions.findIndex(({ rest }) => rest === 'bun infra/bundle/bundle.ts bundles')
    expect(at).toBeGreaterThan(instructions.findLastIndex(({ word }) => word === 'COPY'))
    const commands = serviceNames.map((name) => localStack().services[name]!.command)
    expect(commands).toEqual(serviceNames.map((name) => ['bun', `bundles/${name}.js`]))
  })

  test.each(programs)('contains every file that %s loads, and every package', (program) => {
    const { files, packages } = reachedFrom(repositoryDir, [program], loads)
    expect([...files].filter((file) => !inImage(file))).toEqual([])
    expect([...packages].filter((name) => !(name in packageJson.dependencies))).toEqual([])
  })

  test('contains every script that the runbook runs in a container', () => {
    const pages = [...new Glob('{services,infra}/**/*.md').scanSync(repositoryDir)]
    const run = /(?:\boper|\bdc (?:exec|run) [^`\n]*?\bbun) ((?:services|infra)\/[\w./-]+\.ts)/g
    const named = pages.flatMap((page) =>
      [...readFileSync(join(repositoryDir, page), 'utf8').matchAll(run)].map(([, script]) => script!),
    )
    expect(named.length).toBeGreaterThan(10)
    expect([...new Set(named)].filter((script) => !programs.includes(script))).toEqual([])
  })

  test('contains the migrations, which are read as files', () => {
    const journals = [...new Glob('infra/migrations/*/meta/_journal.json').scanSync(repositoryDir)]
    expect(journals.length).toBeGreaterThan(0)
    expect(journals.filter((path) => !inImage(path))).toEqual([])
  })

  test.each([
    ['.git/config', false],
    ['node_modules/viem/package.json', false],
    ['infra/.env', false],
    ['infra/testnet.env', false],
    ['infra/secrets/treasury_key', false],
    ['.local/stack.json', false],
    ['services/payments/checkout/open.test.ts', false],
    ['test/books.ts', false],
    ['services/payments/checkout/open.ts', true],
  ])('of the repository, %s is sent to the builder: %p', (path, sent) => {
    expect(isSent(path)).toBe(sent)
  })
})

describe('the Dockerfile reader', () => {
  test('rejects an unknown instruction', () => {
    expect(() => readDockerfile('FROM a\nCOPYY b c')).toThrow(/not an instruction/)
  })

  test('lets the last matching line decide what is ignored', () => {
    const sent = readIgnore('*\n!a\na/secret\n**/*.md')
    expect(['a/b.ts', 'a/secret', 'a/x/y.md', 'b'].map(sent)).toEqual([true, false, false, false])
  })
})
