import { dirname } from 'node:path'
import { composeStackFile } from '#infra/compose/stack-file'
import { outsideOf } from '#infra/demo/external'
import { waitUntil } from '#infra/local/wait'
import { pause } from '#platform/deadline'
import { type Engine, must, type Ran, run } from './engine'
import { eventsArrive, freshEventsSecret } from './external'
import { provideTools } from './images'
import { below } from './power-cut'
import { expecting, seconds, step } from './report'
import type { ComposeStack } from './stack'
import { startTopUps } from './traffic'

/** Plays the demo with the commands of the runbook, in a copy of the repository that starts without packages. */
async function demo({ dir }: ComposeStack): Promise<string> {
  const bun = { cwd: dir, env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` } }
  await must(['bun', 'run', 'stack-file'], bun)
  const played = await run(['bun', 'run', 'demo'], { ...bun, env: { ...bun.env, LOCAL_DIR: '.local/compose' } })
  expecting(played.code === 0, played.text.slice(-1_500))
  expecting(/Playing on the stack in \S+compose,/.test(played.text), played.text.slice(0, 500))
  return `completed in ${seconds(played.ms)}`
}

const restartsOf = async (stack: ComposeStack, but: readonly string[] = []) =>
  (await stack.containers())
    .filter(({ service }) => !but.includes(service))
    .map(({ service, id, restarts }) => `${service} ${id} ${restarts}`)
    .sort()
    .join('\n')

async function killAndWait(stack: ComposeStack, service: string): Promise<number> {
  const before = (await stack.containers()).find((one) => one.service === service && one.running)
  if (!before) throw new Error(`${service} is not running`)
  process.kill(before.pid, 'SIGKILL')
  await waitUntil(`the restart of ${service}`, async () => {
    const now = (await stack.containers()).find((one) => one.id === before.id)
    return now?.running && now.pid !== before.pid
  })
  return stack.allWell()
}

/** Kills anvil in the container of the chain, and waits until everything is healthy. */
async function killAnvil(stack: ComposeStack): Promise<number> {
  const chain = (await stack.containers()).find(({ service }) => service === 'chain')
  const anvils = () => below(chain!.pid, /\/anvil /)
  const [before] = anvils()
  if (before === undefined) throw new Error('anvil is not running')
  process.kill(before, 'SIGKILL')
  await waitUntil('another anvil', () => anvils().some((pid) => pid !== before))
  return stack.allWell()
}

async function well(running: Promise<Ran>): Promise<void> {
  const { code, text } = await running
  expecting(code === 0, text.slice(-1_500))
}

/** Kills each container, kills anvil between them and restarts everything, while users pay top-ups. */
async function underTraffic(stack: ComposeStack, services: readonly string[]): Promise<string> {
  const traffic = await startTopUps(composeStackFile())
  const took: number[] = []
  const disturb = async (work: () => Promise<unknown>) => {
    await traffic.goesOn(4)
    await work()
    took.push(await stack.allWell(120_000))
  }
  const compose = (...args: string[]) => disturb(() => well(stack.compose(args)))
  for (const service of services) {
    await disturb(() => killAndWait(stack, service))
    await disturb(() => killAnvil(stack))
  }
  await compose('restart')
  await compose('restart', '-t', '0')
  await disturb(async () => {
    await well(stack.compose(['stop']))
    await well(stack.compose(['start']))
  })
  await compose('restart')
  const { paid, tookMs } = await traffic.credited()
  const books = () => stack.compose(['run', '--rm', '--no-deps', 'ops', 'reconcile'])
  await waitUntil('the books to balance', async () => (await books()).code === 0, 60_000, 1_000)
  const slowest = seconds(Math.max(...took))
  return `${took.length} times, healthy at most ${slowest} later; ${paid} top-ups credited, the last ${seconds(tookMs)} after the end`
}

const isReady = async ({ gateway }: ComposeStack) =>
  (await fetch(`${gateway}/ready`, { signal: AbortSignal.timeout(2_000) })).ok

const away = (stack: ComposeStack, service: string, ms: number) => async () => {
  const before = await restartsOf(stack, [service])
  await stack.compose(['stop', '-t', '5', service])
  await pause(ms)
  await stack.compose(['start', service])
  const startedAt = Date.now()
  await waitUntil('the gateway becoming ready', () => isReady(stack), 90_000, 100)
  const readyMs = Date.now() - startedAt
  await stack.allWell()
  expecting((await restartsOf(stack, [service])) === before, 'another container restarted')
  return `no other container restarted, ready ${seconds(readyMs)} after it returned`
}

export async function rehearseLocal(engine: Engine, stack: ComposeStack): Promise<void> {
  const { compose } = stack
  await compose(['down', '-v', '--remove-orphans'])

  await step('build the image', async () => {
    const built = await compose(['build'])
    expecting(built.code === 0, built.text.slice(-1_500))
    const size = await engine.docker(['images', '--format', '{{.Size}}', 'ausd-credit-backend:local'])
    return size.text.trim()
  })
  await step(
    'up',
    async () => {
      const up = await compose(['up', '-d'])
      expecting(up.code === 0, up.text.slice(-1_500))
      await stack.allWell()
      return 'every container is healthy or exited with 0'
    },
    { vital: true },
  )
  await step('demo', () => demo(stack))
  await step('events by HTTP', async () => {
    const events = { EVENTS_URL: 'http://sandbox:3100/events', EVENTS_SECRETS: freshEventsSecret() }
    await well(compose(['up', '-d'], events))
    await stack.allWell()
    const seen = await eventsArrive(outsideOf(composeStackFile()))
    await well(compose(['up', '-d']))
    await stack.allWell()
    return seen
  })
  await step('NATS tools', async () => {
    await provideTools(engine, 'local')
    await compose(['--profile', 'tools', 'up', '-d', 'nats-box'])
    const nats = (...words: string[]) => compose(['--profile', 'tools', 'exec', '-T', 'nats-box', 'nats', ...words])
    const listed = () => nats('micro', 'ls')
    await waitUntil('the NATS context', async () => (await listed()).code === 0)
    const services = (await listed()).text.trim().split('\n').length
    const streams = (await nats('stream', 'report')).text.trim().split('\n').length
    await compose(['--profile', 'tools', 'rm', '-fs', 'nats-box'])
    expecting(services >= 6, `nats micro ls shows only ${services} services`)
    return `${services} services, ${streams} streams`
  })
  await step('up --build again', async () => {
    const before = await restartsOf(stack)
    const again = await compose(['up', '-d', '--build'])
    expecting(again.code === 0, again.text.slice(-1_500))
    const lasting = (text: string) => text.split('\n').filter((one) => !/ 0$/.test(one))
    expecting(lasting(await restartsOf(stack)).join() === lasting(before).join(), 'containers restarted')
    expecting(!/Recreat/.test(again.text), 'containers were recreated')
    return 'nothing recreated'
  })
  const services = (await stack.containers()).filter(({ running }) => running)
  for (const { service } of services)
    await step(`kill ${service}`, async () => {
      const backMs = await killAndWait(stack, service)
      return `healthy ${seconds(backMs)} after its restart`
    })
  await step('kill the chain three times in a row', async () => {
    const took = []
    for (let time = 0; time < 3; time += 1) took.push(await killAndWait(stack, 'chain'))
    return `healthy after ${took.map(seconds).join(', ')}`
  })
  const names = services.map(({ service }) => service)
  await step('kill each service, and restart all, under traffic', () => underTraffic(stack, names))
  await step('demo after the kills', () => demo(stack))
  for (const service of ['nats', 'postgres'])
    for (const ms of [20_000, 60_000]) await step(`stop ${service} for ${ms / 1_000} s`, away(stack, service, ms))
  await step('two instances of each service', async () => {
    const copied = ['pricing', 'payments', 'payouts', 'chain-relayer', 'indexer-reader']
    const scale = (to: number) => copied.flatMap((name) => ['--scale', `${name}=${to}`])
    const more = await compose(['up', '-d', '--no-recreate', ...scale(2)])
    expecting(more.code === 0, more.text.slice(-1_500))
    await stack.allWell()
    const seen = await demo(stack)
    await compose(['up', '-d', '--no-recreate', ...scale(1)])
    return seen
  })
  await step('reboot the engine', async () => {
    await engine.reboot()
    const readyMs = await stack.allWell(120_000)
    return `healthy ${seconds(readyMs)} later without intervention`
  })
  await step('down and up keep the state', async () => {
    const height = async () => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'
      const headers = { 'Content-Type': 'application/json' }
      const answer = await fetch(composeStackFile().chain.rpcUrl, { method: 'POST', headers, body })
      return Number(((await answer.json()) as { result: string }).result)
    }
    const before = await height()
    await compose(['down'])
    await compose(['up', '-d'])
    await stack.allWell()
    const after = await height()
    expecting(after >= before, `the chain went from block ${before} back to ${after}`)
    return `the chain continued from block ${before}; demo ${await demo(stack)}`
  })
  await step('a deployment with public secrets is refused', async () => {
    const env = { STACK: 'elsewhere', COMPOSE_FILE: 'compose.yaml', GATEWAY_PORT: '3999' }
    const up = await compose(['up', '-d'], env)
    const all = await stack.containers('ausd-elsewhere')
    const logs = await compose(['logs', 'settings'], env)
    await compose(['down', '-v'], env)
    expecting(up.code !== 0, 'compose exited with 0')
    const running = all.filter((one) => one.running).map(({ service }) => service)
    expecting(running.length === 0, `still running: ${running}`)
    expecting(logs.text.includes('TREASURY_KEY is public'), logs.text.slice(-500))
    return 'settings exited with 1, no other container started'
  })
  await step('a manual deploy leaves no container', async () => {
    const env = { STACK: 'elsewhere', COMPOSE_FILE: 'compose.yaml' }
    await compose(['run', '--rm', 'deploy', 'bun', 'infra/deploy/main.ts', '--dry-run'], env)
    const all = await stack.containers('ausd-elsewhere')
    await compose(['down', '-v'], env)
    expecting(all.length === 0, all.map(({ service }) => service).join())
    return 'no container left'
  })
  await step('down -v', async () => {
    const down = await compose(['--profile', 'tools', 'down', '-v'])
    expecting(down.code === 0, down.text.slice(-1_500))
    const volumes = await engine.docker(['volume', 'ls', '-q', '--filter', 'name=ausd-local'])
    expecting(volumes.text.trim() === '', volumes.text)
    return 'no container and no volume left'
  })
}
