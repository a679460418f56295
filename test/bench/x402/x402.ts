import pMap from 'p-map'
import { freePort } from '#infra/local/ports'
import { Hopeless, waitUntil } from '#infra/local/wait'
import { toUnixSeconds } from '#platform/clock'
import type { SignedTransfer } from '#shared/chain/erc3009'
import { signIn } from '#shared/client/client'
import { against, type Figure, figureText } from '../figure'
import type { Options } from '../options'
import { type Ground, laySendGround, sendAll, startService } from '../sends/ground'
import { startFacilitator } from './facilitator'

const bench = 'x402'
/** Numbers of requests in flight; the facilitator holds each until its receipt. */
const atOnce = [64, 512]
const warmUps = 200
const busyPauseMs = 250
const acceptedMs = 60_000
const daySeconds = 86_400

export async function benchX402(options: Options, say: (line: string) => void): Promise<Figure[]> {
  if (!options.names.includes(bench)) return []
  say('x402: starting chain, Postgres and NATS')
  await using ground = await laySendGround()
  say('x402: installing the facilitator')
  const theirs = await facilitatorRun(ground, options.sends).catch((error: Error) => error)
  say('x402: gateway')
  const ours = await gatewayRun(ground, options.sends)
  const unit = 'sends/s'
  const gateway = { bench, name: 'POST /sends, request to final', unit, value: ours.perSecond }
  if (theirs instanceof Error) {
    say(`x402 is not available: ${theirs.message}`)
    const note = theirs.message.split('\n')[0]!.slice(0, 120)
    return [{ bench, name: 'POST /settle', value: null, unit, note }, gateway]
  }
  const name = `x402 ${theirs.version}`
  return [
    {
      bench,
      name: `${name}, POST /settle, request to receipt`,
      unit,
      value: theirs.perSecond,
      note: theirs.note,
    },
    { ...gateway, ...against(ours.perSecond, theirs.perSecond, name), note: ours.note },
    {
      bench,
      name: 'POST /sends over x402',
      unit: 'times',
      value: ours.perSecond / theirs.perSecond,
      aim: { of: 'value', bound: 'at least', limit: 1 },
      note: `${name}, ${options.sends} sends, two lanes`,
    },
  ]
}

type Run = { perSecond: number; note: string }

/** Returns the faster of two runs, with few and with many requests in flight. */
async function fastest(
  ground: Ground,
  count: number,
  settle: (transfers: readonly SignedTransfer[], concurrency: number) => Promise<unknown>,
): Promise<Run> {
  await settle(await ground.signTransfers(warmUps), atOnce[0]!)
  const runs: Run[] = []
  for (const concurrency of atOnce) {
    const transfers = await ground.signTransfers(count)
    const startedAt = performance.now()
    await settle(transfers, concurrency)
    const perSecond = (count * 1_000) / (performance.now() - startedAt)
    runs.push({ perSecond, note: `${figureText(perSecond)} with ${concurrency}` })
  }
  const perSecond = Math.max(...runs.map((run) => run.perSecond))
  return { perSecond, note: `in flight: ${runs.map(({ note }) => note).join(', ')}` }
}

async function facilitatorRun(ground: Ground, count: number): Promise<Run & { version: string }> {
  const { version, settle, stop } = await startFacilitator(ground)
  const run = await fastest(ground, count, (transfers, concurrency) => pMap(transfers, settle, { concurrency }))
  await stop()
  return { ...run, version }
}

async function gatewayRun(ground: Ground, count: number): Promise<Run> {
  const [http, ops] = [await freePort(), await freePort()]
  const relayer = await startService(ground, 'chain-relayer')
  const url = `http://127.0.0.1:${http}`
  const gateway = await startService(ground, 'gateway', {
    HTTP_PORT: String(http),
    OPS_PORT: String(ops),
    PUBLIC_URL: url,
    IDENTITY_API_URL: url,
  })
  const request = await senderTo(url, ground)
  const run = await fastest(ground, count, (transfers, concurrency) => sendAll(ground, transfers, request, concurrency))
  await Promise.all([gateway.stop('SIGTERM'), relayer.stop('SIGTERM')])
  return run
}

async function senderTo(url: string, { wallets }: Ground) {
  const until = toUnixSeconds(Date.now()) + daySeconds
  const sessions = new Map<string, string>()
  for (const wallet of wallets) sessions.set(wallet.address, await signIn(wallet, until))
  const post = async (transfer: SignedTransfer) => {
    const session = sessions.get(transfer.from)!
    const response = await fetch(`${url}/sends`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: session },
      body: JSON.stringify({ authorization: transfer }),
    })
    const refusal = `POST /sends: ${response.status} ${await response.text()}`
    if (!response.ok && response.status !== 503) throw new Hopeless(refusal)
    return response.ok
  }
  return (transfer: SignedTransfer) =>
    waitUntil('the gateway to accept a send', () => post(transfer), acceptedMs, busyPauseMs)
}
