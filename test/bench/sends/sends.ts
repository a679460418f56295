import { join } from 'node:path'
import { connect, type NatsConnection } from 'nats'
import { laneKeys } from '#infra/local/environment'
import { Hopeless, waitUntil } from '#infra/local/wait'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { SendCreate } from '#shared/messages/chain'
import { against, type Figure, figureText } from '../figure'
import type { Options } from '../options'
import { processorMs } from '../stack/processor-time'
import { type Ground, laySendGround, sendAll, startService } from './ground'
import type { PlainTask } from './plain-relayer'

const bench = 'sends'
const askedAtOnce = 512
/** Numbers of transfers in flight; viem polls each receipt in each block. */
const plainAtOnce = [64, 512]
const warmUps = 200
const deadlineMs = 300_000

export async function benchSends(options: Options, say: (line: string) => void): Promise<Figure[]> {
  say('sends: starting chain, Postgres and NATS')
  await using ground = await laySendGround()
  await using bus = await openBus(ground)
  say('sends: plain viem')
  const plain = await fastestPlain(ground, options.sends)
  say('sends: chain-relayer')
  const ours = await relayerRun(ground, bus.nc, options.sends)
  say('sends: chain-relayer without batching')
  const alone = await relayerRun(ground, bus.nc, Math.ceil(options.sends / 4), { BATCH_MAX: '1' })
  const { perBlock } = ours.rpc
  return [
    {
      bench,
      name: 'plain viem, nonceManager',
      value: plain.perSecond,
      unit: 'sends/s',
      note: `${options.sends} sends, two lanes, in flight: ${plain.note}`,
    },
    {
      bench,
      name: 'chain-relayer, request to final',
      value: ours.perSecond,
      unit: 'sends/s',
      ...against(ours.perSecond, plain.perSecond, 'plain viem'),
      aim: { of: 'value', bound: 'at least', limit: 200 },
      note: `all requested within ${figureText(ours.askedMs / 1_000)} s`,
    },
    {
      bench,
      name: 'chain-relayer over plain viem',
      unit: 'times',
      value: ours.perSecond / plain.perSecond,
      aim: { of: 'value', bound: 'at least', limit: 1 },
    },
    {
      bench,
      name: 'RPC calls per block, no submission or simulation',
      unit: '',
      value: perBlock.overhead,
      aim: { of: 'value', bound: 'at most', limit: 5 },
      note: `${perBlock.requests} in all`,
    },
    ...timeOf('send, CPU time', ours),
    {
      bench,
      name: 'chain-relayer without batching',
      unit: 'sends/s',
      value: alone.perSecond,
      ...against(alone.perSecond, plain.perSecond, 'plain viem'),
      note: 'BATCH_MAX 1',
    },
    ...timeOf('send without batching, CPU time', alone),
  ]
}

type Run = Awaited<ReturnType<typeof relayerRun>>

const timeOf = (name: string, { cpuMs }: Run): Figure[] => [
  {
    bench,
    name,
    unit: 'ms',
    value: Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0),
    note: Object.entries(cpuMs)
      .map(([process, ms]) => `${process} ${figureText(ms)}`)
      .join(', '),
  },
]

async function relayerRun(
  ground: Ground,
  nc: NatsConnection,
  count: number,
  settings: Readonly<Record<string, string>> = {},
) {
  const relayer = await startService(ground, 'chain-relayer', settings)
  await waitUntil('the relayer to respond', () => statsOf(nc).catch(() => undefined), 30_000)
  const request = (one: SignedTransfer) => askForSend(nc, one)
  await sendAll(ground, await ground.signTransfers(warmUps), request, askedAtOnce)
  const transfers = await ground.signTransfers(count)
  const measured = {
    'chain-relayer': relayer.pid(),
    'nats-server': ground.processes.get('nats-server').pid(),
    postgres: ground.processes.get('postgres').pid(),
  }
  const times = () => Object.values(measured).map(processorMs)
  const before = times()
  const { tookMs, askedMs } = await sendAll(ground, transfers, request, askedAtOnce)
  const spent = times().map((ms, place) => (ms - before[place]!) / count)
  const cpuMs = Object.fromEntries(Object.keys(measured).map((name, place) => [name, spent[place]!]))
  const { rpc } = (await statsOf(nc))!
  await relayer.stop('SIGTERM')
  return { perSecond: (count * 1_000) / tookMs, askedMs, cpuMs, rpc }
}

/** Returns the faster of two runs, with few and with many transfers in flight. */
async function fastestPlain(ground: Ground, count: number) {
  const runs: { perSecond: number; atOnce: number }[] = []
  for (const atOnce of plainAtOnce) runs.push({ perSecond: await plainRun(ground, count, atOnce), atOnce })
  const note = runs.map(({ perSecond, atOnce }) => `${figureText(perSecond)} with ${atOnce}`)
  const perSecond = Math.max(...runs.map((one) => one.perSecond))
  return { perSecond, note: note.join(', ') }
}

async function plainRun(ground: Ground, count: number, atOnce: number): Promise<number> {
  const { rpcUrl, chainId, deployment } = ground.backbone
  const transfers = await ground.signTransfers(count)
  const task: PlainTask = { rpcUrl, chainId, ausd: deployment.ausd, laneKeys, atOnce, transfers }
  const script = join(import.meta.dir, 'plain-relayer.ts')
  const child = Bun.spawn([process.execPath, script], {
    stdin: new Blob([JSON.stringify(task)]),
    stdout: 'pipe',
    timeout: deadlineMs,
  })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the plain relayer failed')
  return (count * 1_000) / (JSON.parse(text) as { tookMs: number }).tookMs
}

/** Requests a send and retries, as apps do: the nonce identifies the request. */
async function askForSend(nc: NatsConnection, authorization: SignedTransfer): Promise<void> {
  const wallet = authorization.from.toLowerCase()
  const asked = JSON.stringify({ wallet, authorization })
  const accepted = async () => {
    const reply = await nc.request(SendCreate.subject, asked, { timeout: 20_000 })
    const code = reply.headers?.get('Nats-Service-Error-Code')
    if (code === '500') return false
    if (reply.string().includes('sendId')) return true
    throw new Hopeless(`send failed: ${code} ${reply.string()}`)
  }
  await waitUntil('the relayer to accept a send', accepted, 60_000, 250)
}

type Stats = { rpc: { perBlock: { requests: number | null; overhead: number | null } } }

async function statsOf(nc: NatsConnection): Promise<Stats | undefined> {
  const reply = await nc.request('$SRV.STATS.chain-relayer', '', { timeout: 2_000 })
  const { endpoints } = reply.json<{ endpoints: { data?: Stats }[] }>()
  return endpoints.find(({ data }) => data?.rpc)?.data
}

async function openBus({ backbone, secrets }: Ground) {
  const nc = await connect({
    servers: backbone.natsUrl,
    user: 'admin',
    pass: secrets.nats.admin,
    inboxPrefix: '_INBOX_admin',
    timeout: 5_000,
  })
  return { nc, [Symbol.asyncDispose]: () => nc.close() }
}
