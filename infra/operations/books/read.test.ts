import { afterAll, beforeAll, expect, test } from 'bun:test'
import { repositoryDir } from '#infra/local/folders'
import { patienceMs, waitUntil } from '#infra/local/wait'
import { refOf } from '#shared/chain/ref'
import { actors } from '#test/support/contracts'
import { openSandboxFixture, type SandboxFixture, sessionBody } from '#test/support/sandbox'
import { insertCashout, insertPayment, moveSigned, nonceOf } from './external/test-support'
import { graceMs } from './external/treasury'
import { readOutside } from './read'
import { type BooksFixture, openBooksFixture } from './test-support'

const ana = actors.ana.address
const treasury = actors.treasury.address
let sandbox: SandboxFixture
let fixture: BooksFixture
let counting: ReturnType<typeof openCounting>
beforeAll(async () => {
  sandbox = await openSandboxFixture()
  const keys = { ID: 'key-id', MY: 'key-my' }
  counting = openCounting()
  counting.targets.provider = sandbox.url
  fixture = await openBooksFixture({
    url: `${counting.url}/provider`,
    keys,
    requestsPerMinute: 60_000,
  })
  counting.targets.chain = fixture.place.rpcUrls[0]!
})
afterAll(async () => {
  await fixture.close()
  counting.close()
  await sandbox[Symbol.asyncDispose]()
})

async function live() {
  await insertPayment(fixture.admin, 'pay_1')
  const nonce = nonceOf('take')
  await insertCashout(fixture.admin, 'out_1', { authorizer: ana, nonce, micro: 6n })
  await fixture.chain.send('relayer', 'creditLine', 'topUp', [refOf('pay_1'), ana, 5_000n, true])
  await moveSigned(fixture, 'ana', treasury, { micro: 6n, nonce })
  for (let count = 0; count < 30; count++) await fixture.chain.send('budi', 'ausd', 'transfer', [treasury, 7n])
  await sandbox.control('fees', { bps: 100 })
  for (let count = 0; count < 60; count++) {
    const { json } = await sandbox.call('ID', '/sessions', sessionBody())
    await sandbox.control(`sessions/${json.payment_session_id}/pay`, { channel_code: 'DANA' })
  }
  const lane = actors.relayer.address.toLowerCase()
  await fixture.admin`
    insert into chain_relayer.lane (address, next_nonce) values (${lane}, 1000)`
  await fixture.chain.client.mine({ blocks: 300 })
  const { timestamp } = await fixture.chain.client.getBlock()
  fixture.now.aheadMs = Number(timestamp) * 1_000 - Date.now() + graceMs
}

const place = () => ({ ...fixture.place, rpcUrls: [`${counting.url}/chain`], logsRangeMax: 1n })

/** Returns what was written, without times. */
const written = async () => {
  const tables = await Promise.all([
    fixture.admin`select tx_hash, log_index, kind, key, wallet, ausd_micro, held, moved_at
      from books.chain_moves order by block, log_index`,
    fixture.admin`select account, type, status, reference, product_id, amount_minor, fee_minor
      from books.provider_moves order by account, transaction_id`,
    fixture.admin`select key, kind, item, ref_sequence from books.names order by key`,
    fixture.admin`select place, asset, amount, block, nonce from books.balances order by place`,
    fixture.admin`select event, item, account, asset, amount, reverses is null as stands
      from books.journal order by item, account, amount`,
    fixture.admin`select source, block from books.checkpoints order by source`,
  ])
  return tables.map((rows) => rows.map((row) => ({ ...row })))
}
/** Empties the tables of the books. The triggers of the journal refuse this, so they are disabled meanwhile. */
const forget = async () => {
  await fixture.admin`truncate books.chain_moves, books.provider_moves, books.names,
    books.balances, books.checkpoints`
  await fixture.admin`alter table books.journal disable trigger user`
  await fixture.admin`truncate books.journal`
  await fixture.admin`alter table books.journal enable trigger user`
}

test('a reading that is killed repeatedly and then run by two instances stores everything once', async () => {
  await live()
  await readOutside(fixture.copy())
  const whole = await written()
  expect(whole.map(({ length }) => length)).toEqual([33, 60, 33, 6, 186, 10])
  await forget()

  const context = fixture.copy({ place: place() })
  const job = `
    import { connectBooks } from '#infra/operations/books/context'
    import { readOutside } from '#infra/operations/books/read'
    import { openLog } from '#platform/log'
    const { place, ...rest } = JSON.parse(process.env.JOB)
    for (const name of ['deployBlock', 'logsRangeMax']) place[name] = BigInt(place[name])
    const log = openLog('operator', 'silent')
    const clock = () => Date.now() + ${fixture.now.aheadMs}
    await readOutside({ ...connectBooks({ ...rest, place, log, onFatal: () => {} }), clock })
    process.exit()`
  const text = JSON.stringify({ databaseUrl: fixture.databaseUrl, place: context.place }, (_, value) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
  let kills = 0
  for (let calls = 30; ; calls = Math.ceil(calls * 1.8)) {
    counting.calls = { chain: 0, provider: 0 }
    const child = Bun.spawn([process.execPath, '-e', job], {
      cwd: repositoryDir,
      stdout: 'ignore',
      stderr: 'inherit',
      env: { PATH: process.env.PATH ?? '', JOB: text },
    })
    const isOver = () => child.exitCode !== null
    await waitUntil(
      'calls or the end',
      () => isOver() || counting.calls.chain + counting.calls.provider >= calls,
      patienceMs,
      1,
    )
    if (!isOver()) child.kill('SIGKILL')
    await child.exited
    if (child.exitCode === 0) break
    kills++
  }
  expect(kills).toBeGreaterThan(3)
  await Promise.all([1, 2].map(() => readOutside(fixture.copy({ place: place() }))))
  expect(await written()).toEqual(whole)
})

test('a reading without new data needs only a few calls', async () => {
  fixture.now.aheadMs = 0 // A checkpoint beyond the clock of Postgres would be read again.
  await readOutside(fixture.copy({ place: place() }))
  counting.calls = { chain: 0, provider: 0 }
  await readOutside(fixture.copy({ place: place() }))
  expect(counting.calls).toEqual({ chain: 8, provider: 5 })
})

function openCounting() {
  const endpoint = {
    url: '',
    close: () => {},
    targets: { chain: '', provider: '' },
    calls: { chain: 0, provider: 0 },
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url)
      const name = pathname.startsWith('/chain') ? 'chain' : 'provider'
      endpoint.calls[name]++
      const path = pathname.slice(name.length + 1) + search
      const { method, headers } = request
      const body = method === 'GET' ? undefined : await request.text()
      const kept = ['authorization', 'content-type', 'api-version']
      return fetch(`${endpoint.targets[name]}${path}`, {
        method,
        body: body ?? null,
        headers: kept.flatMap((one) => (headers.has(one) ? [[one, headers.get(one)!]] : [])),
      })
    },
  })
  endpoint.url = `http://127.0.0.1:${server.port}`
  endpoint.close = () => void server.stop(true)
  return endpoint
}
