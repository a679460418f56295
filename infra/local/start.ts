import { join, resolve } from 'node:path'
import { processes } from '#infra/configuration/processes'
import { banner } from '#infra/local/banner'
import { findAnvil } from '#infra/local/chain/anvil'
import { repositoryDir } from '#infra/local/folders'
import { hasNats } from '#infra/local/nats'
import { hasPostgres } from '#infra/local/postgres'
import { bootStack } from '#infra/local/stack'
import { bunRun } from '#infra/local/start/command'
import { adviceOn, assertPrograms, failureText, usableDir } from '#infra/local/start/faults'
import { assertFree, FolderTaken } from '#infra/local/start/folder-owner'
import { type DataPlan, readKept } from '#infra/local/start/kept'
import { takenOver } from '#infra/local/start/own'
import { openProgress, type StartProgress } from '#infra/local/start/progress'
import { describeRunning } from '#infra/local/start/running'
import { openStopping, whileStarting } from '#infra/local/start/stopping'
import { readWords, refuseWords, takenByNpm } from '#infra/local/words'
import { secretsOf } from '#platform/config'
import { redactorOf, secretWordsOf } from '#platform/redaction'

const usualDir = join(repositoryDir, '.local')
const usage = `usage: ${bunRun} start [--keep]
  --keep  continue with the data of the last run
LOCAL_DIR=/path/to/folder runs a second stack. Ports that are taken are replaced.`
const { values } = readWords(usage, { options: { keep: { type: 'boolean' } } })
const taken = takenByNpm(['keep'], process.env)
if (taken) refuseWords(taken, usage)
const data: DataPlan = values.keep ? 'continue' : 'leave'

const startedAt = performance.now()
const stopping = openStopping()

const proxies = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()])

/** Prints what the stack takes from the environment, which may be there for another project, and what it does not. */
function sayOfEnvironment({ env } = process): void {
  const taken = takenOver(env)
  if (taken) console.log(`From your environment: ${taken}. Unset what is not meant for this stack.`)
  const proxy = proxies.find((name) => env[name])
  if (proxy && env.no_proxy) console.log(`${proxy} is not used for this machine itself: no_proxy=${env.no_proxy}`)
}

function sayOfData(dir: string): void {
  const before = readKept(dir)
  if (data === 'continue' && before) console.log(`Continuing with the saved data in ${dir}.`)
  else if (data === 'continue') console.log(`No saved data in ${dir}; starting fresh.`)
  else if (before) console.log('Starting fresh: discarding data from the previous run (use --keep to keep it).')
}

/** npm packages contain them on Linux x64; elsewhere the user provides them. */
const programs = () => {
  const { DATABASE_URL, NATS_URL, RPC_URL } = process.env
  return [
    { name: 'postgres', isThere: hasPostgres() || !!DATABASE_URL, insteadOf: 'DATABASE_URL' },
    { name: 'nats-server', isThere: hasNats() || !!NATS_URL, insteadOf: 'NATS_URL' },
    { name: 'anvil', isThere: !!findAnvil() || !!RPC_URL, insteadOf: 'RPC_URL' },
  ]
}

const boot = (dir: string, progress: StartProgress) =>
  bootStack({
    dir,
    data,
    progress,
    ports: 'wanted',
    durable: true,
    operations: true,
    controls: true,
    own: process.env,
    signal: stopping.signal,
    onOwned: () => {
      sayOfEnvironment()
      sayOfData(dir)
    },
    onDeath: ({ name, how, livedMs, restartInMs }) => {
      console.log(`  ${name} died (${how}) after ${livedMs} ms, restarting in ${restartInMs} ms`)
    },
  })

async function explain(error: Error, dir: string): Promise<never> {
  if (stopping.signal.aborted) process.exit(0) // Everything that was started has ended.
  if (error instanceof FolderTaken) {
    console.log(await describeRunning(error))
    process.exit(0)
  }
  const secrets = Object.values(processes).flatMap((fields) => secretsOf(fields))
  const redact = redactorOf(secrets.flatMap(secretWordsOf))
  console.error(redact(failureText('Start', error)))
  const advice = adviceOn(error, dir)
  if (advice) console.error(advice)
  process.exit(1)
}

async function start() {
  const dir = resolve(process.env.LOCAL_DIR || usualDir)
  try {
    assertFree(dir) // First: a running stack may have used up the disk.
    usableDir(process.env.LOCAL_DIR, usualDir)
    assertPrograms(programs())
    return { dir, stack: await whileStarting(stopping, (progress) => boot(dir, progress)) }
  } catch (error) {
    return explain(error as Error, dir)
  }
}

const { dir, stack } = await start()
const heading = `Ready in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`
console.log(banner(stack.info, { dir, heading }))
console.log(`  Ctrl-C stops everything. The next start discards the data; to continue with it:
        ${bunRun} start --keep
`)
await stopping.asked
using progress = openProgress()
const ending = (async () => stack[Symbol.asyncDispose]())()
await progress.during('stopping services', ending)
process.exit(0)
