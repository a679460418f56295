import { availableParallelism } from 'node:os'
import { repositoryDir } from '#infra/local/folders'
import { runtimeSettings } from '#infra/local/stack/runtime'
import { watchStarter } from '#infra/local/starter'
import { forReader, openReader } from './output'
import { openProgress } from './progress'
import { serveSharedStack } from './shared-stack'
import { allSuites, recordedSeconds, select, type Tier, timingsPath } from './suites'
import { useFolderInMemory } from './temporary'

const usage = `bun run test [PATH…]            the suites a newcomer runs, or those whose path contains PATH
bun run test:all                everything except proof
bun run test:all --rest         the same without the suites of \`bun run test\`

  -t TEXT           only tests whose names match TEXT
  --update-timings  writes test/timings.json, by which the longest suites start first

Proof is run by \`bun run prove\`.`

/** Number of workers. Suites mostly wait, so six keep two cores busy. */
const workers = Math.min(8, Math.ceil(availableParallelism() * 3))
/** Deadline in ms for a test that hangs; each wait has its own. */
const testTimeoutMs = 900_000

const { tiers, patterns, flags } = readWords(process.argv.slice(2))
const suites = select(allSuites(), { tiers, patterns })
if (suites.length === 0) {
  console.error(`No suite has ${patterns.join(' or ')} in its path.`)
  process.exit(2)
}

useFolderInMemory()
const shared = serveSharedStack()
const command = ['test', '--no-orphans', `--parallel=${workers}`, '--no-isolate']
const times = [`--timings=${timingsPath}`, '--timeout', String(testTimeoutMs)]
const run = Bun.spawn([process.execPath, ...command, ...times, ...flags, ...suites.map((path) => `./${path}`)], {
  cwd: repositoryDir,
  env: { ...process.env, ...forReader, ...runtimeSettings, SHARED_STACK_URL: shared.url },
  stdin: 'ignore',
  stdout: 'ignore',
  stderr: 'pipe',
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => run.kill('SIGTERM'))
// The command that started this run passes on no signal if it is killed with -9.
watchStarter(() => process.exit(1))

const progress = openProgress(recordedSeconds(suites), workers)
const reader = openReader(progress.add)
await eachLine(run.stderr, reader.take)
const code = await run.exited
const counts = reader.end()
await shared[Symbol.asyncDispose]()
// Bun does not count an aborted run or an error outside a test.
if (code !== 0 && counts.failed === 0) {
  counts.failed = 1
  console.error(`bun test ended with ${run.signalCode ?? `exit code ${code}`}, but no test failed.`)
}
progress.end(counts, console.log)
process.exit(code === 0 && counts.failed === 0 ? 0 : 1)

function readWords(words: readonly string[]) {
  const tiers: Tier[] = ['quick']
  const patterns: string[] = []
  const flags: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!
    if (word === '--help') {
      console.log(usage)
      process.exit(0)
    } else if (word === '--all') tiers.push('ci')
    else if (word === '--rest') tiers.splice(0, tiers.length, 'ci')
    else if (word === '-t') flags.push('-t', words[++at] ?? '')
    else if (word === '--update-timings') flags.push(word)
    else if (word.startsWith('-')) {
      console.error(`${word} is unknown.\n\n${usage}`)
      process.exit(2)
    } else patterns.push(word)
  }
  return { tiers, patterns, flags }
}

async function eachLine(stream: ReadableStream<Uint8Array>, take: (line: string) => void) {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) take(line)
  }
  if (rest !== '') take(rest)
}
