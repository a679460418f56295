import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expecting } from '#infra/compose/smoke-test/report'
import { serviceNames } from '#shared/messages/topic'
import { findNothing } from '../failover/closing'
import { type Load, startLoad } from '../failover/load'
import { stopServices } from '../failures/lost-hour'
import { booksClose } from '../support/books'
import { query } from '../support/database'
import { copy, takeBaseBackup } from '../support/engines/base-backup'
import type { World } from '../world/drivers/stack'

const pageBytes = 8_192

/** Changes the middle bit of a file, or of its first `within` bytes. */
function flip(file: string, within = statSync(file).size): void {
  const bytes = readFileSync(file)
  bytes[Math.floor(within / 2)]! ^= 1
  writeFileSync(file, bytes)
}

/** Removes what is in a folder, which is a disk and stays. */
function empty(dir: string): void {
  for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true })
}

/** Damages a page of a table. Postgres must name the page; the backup repairs it. */
export async function damagePage(world: World, load: Load): Promise<string> {
  const { stack } = world
  const power = world.power!
  const dataDir = power.dirOf.postgres
  await stopServices(stack)
  using backup = await takeBaseBackup(stack)
  const [found] = await query<{ path: string }>(stack, `select pg_relation_filepath('payments.payments') as path`)
  await power.stop('postgres')
  flip(join(dataDir, found!.path), pageBytes)
  await power.start('postgres')
  const said = await query(stack, 'select * from payments.payments').then(
    () => 'nothing',
    (error: Error) => error.message,
  )
  expecting(said.startsWith('invalid page in block 0'), `a read of the damaged page said ${said}`)
  await power.stop('postgres')
  empty(dataDir)
  await copy(`${backup.copied}/.`, dataDir)
  await power.start('postgres')
  await worksAgain(world, load)
  return `"${said}"; restored from the backup`
}

/**
 * Damages a stream. nats-server 2.14.0 does not become ready, or drops the messages after the damage. An empty store
 * repairs it.
 */
export async function damageStream(world: World, load: Load, audit: () => Promise<unknown>): Promise<string> {
  const { stack } = world
  const power = world.power!
  const storeDir = power.dirOf['nats-server']
  await stopServices(stack)
  await power.stop('nats-server')
  flip(blockOf(storeDir, 'COMMANDS'))
  const noticed = await power.start('nats-server', 15_000).then(
    () =>
      audit().then(
        () => undefined,
        (error: Error) => error.message,
      ),
    () =>
      `not ready after ${readFileSync(join(stack.dir, 'logs/nats-server.log'), 'utf8')
        .match(/Starting restore for stream '.*'/g)
        ?.at(-1)}`,
  )
  expecting(noticed !== undefined, 'nothing notices the damaged message')
  await power.stop('nats-server')
  empty(storeDir)
  await power.start('nats-server')
  await stack.provision()
  await worksAgain(world, load)
  return `${noticed}; provisioned an empty store`
}

/** Starts the services and a load of the earlier users. The audit leaves out the streams, whose messages were lost on purpose. */
async function worksAgain(world: World, earlier: Load): Promise<void> {
  const { stack } = world
  for (const name of serviceNames) stack.process(name).start()
  const load = await startLoad(world, earlier)
  await load.nextCredited(60_000)
  await load[Symbol.asyncDispose]()
  await findNothing(world, load)
  await booksClose(stack)
}

/** Returns the last block of a stream; streams exist only under account APP. */
function blockOf(storeDir: string, stream: string): string {
  const dir = join(storeDir, 'jetstream/APP/streams', stream, 'msgs')
  const blocks = readdirSync(dir).filter((name) => name.endsWith('.blk'))
  return join(dir, blocks.toSorted((left, right) => parseInt(left, 10) - parseInt(right, 10)).at(-1)!)
}
