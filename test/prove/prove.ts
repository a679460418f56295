import { repositoryDir } from '#infra/local/folders'
import { watchStarter } from '#infra/local/starter'
import { helpIfAsked, refuseWords } from '#infra/local/words'
import { type Engine, engines } from './engines'
import { type Outcome, outcomeIn } from './outcome'

const width = Math.max(...engines.map(({ name }) => name.length))
const usage = `bun run prove [ENGINE…] [--minutes N]    runs these engines, or all, and prints a table
bun run prove ENGINE [OPTION…]           passes the options to the engine (--help shows them)

${engines.map(({ name, proves, minutes }) => `  ${name.padEnd(width)}  ${String(minutes).padStart(2)} min  ${proves}`).join('\n')}

  --minutes N   how long ${engines.flatMap(({ name, duration }) => (duration ? [name] : [])).join(' and ')} run

The exit code is 0 if no engine found anything and none left a test out.`

type Row = {
  readonly engine: string
  readonly amount: string
  readonly found: string
  readonly seconds: number
  readonly command: string
}

const words = process.argv.slice(2)
const optionsAt = words.findIndex((word) => word.startsWith('-'))
const named = optionsAt === -1 ? words : words.slice(0, optionsAt)
const options = optionsAt === -1 ? [] : words.slice(optionsAt)
const first = engines.find(({ name }) => name === named[0])
// A single engine takes its own options and words: `prove orders "credit against refund"`.
const chosen = named.length === 0 ? engines : first && !isEngine(named[1]) ? [first] : named.map(of)
const own = chosen.length === 1 && first ? [...named.slice(1), ...options] : []

if (chosen.length > 1) helpIfAsked(options, usage)
else if (!chosen[0]!.hasHelp) {
  const { name, proves } = chosen[0]!
  helpIfAsked(own, `${name}: ${proves}. It takes no options.`)
  if (own.length > 0) refuseWords(`${name} takes no options: ${own.join(' ')}`, usage)
}
const foreign = options[0] === '--minutes' ? options[2] : options[0]
if (chosen.length > 1 && foreign) refuse(foreign)

const rows: Row[] = []
let running: Bun.Subprocess | undefined
let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isStopped = true
    running?.kill('SIGTERM')
  })
watchStarter(() => process.exit(1))
for (const engine of chosen) if (!isStopped) rows.push(await prove(engine))
console.log(`\n${tableOf(rows)}`)
process.exit(rows.every(({ found }) => found === 'nothing') ? 0 : 1)

function isEngine(word: string | undefined) {
  return engines.some(({ name }) => name === word)
}

function of(word: string): Engine {
  return engines.find(({ name }) => name === word) ?? refuse(word)
}

function refuse(word: string): never {
  return refuseWords(`${word} is unknown.`, usage)
}

/** Runs an engine in a process of its own and shows the output as it arrives. */
async function prove({ name, proves, minutes, run, duration }: Engine): Promise<Row> {
  const extra = chosen.length === 1 ? own : duration ? options : []
  console.log(`\n${name}: ${proves}. About ${minutes} min at its default size.\n`)
  const startedMs = performance.now()
  const child = Bun.spawn([process.execPath, '--no-orphans', ...run, ...extra], {
    cwd: repositoryDir,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  running = child
  const [out, error] = await Promise.all([shown(child.stdout, process.stdout), shown(child.stderr, process.stderr)])
  const code = await child.exited
  const outcome = outcomeIn(out + error)
  return {
    engine: name,
    amount: outcome?.amount ?? '',
    found: foundBy(outcome, code),
    seconds: Math.round((performance.now() - startedMs) / 1_000),
    command: ['bun run prove', name, ...extra.map(quoted)].join(' '),
  }
}

function foundBy(outcome: Outcome | undefined, code: number): string {
  if (outcome && outcome.found > 0) return String(outcome.found)
  if (code !== 0) return `exit code ${code}`
  return outcome?.skipped ? `${outcome.skipped} tests did not run` : 'nothing'
}

function quoted(word: string): string {
  return /\s/.test(word) ? `"${word}"` : word
}

async function shown(stream: ReadableStream<Uint8Array>, out: NodeJS.WriteStream): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    out.write(chunk)
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

function tableOf(all: readonly Row[]): string {
  const heads = ['engine', 'amount', 'found', 'seconds', 'to repeat'] as const
  const lines = all.map(({ engine, amount, found, seconds, command }) => [
    engine,
    amount,
    found,
    String(seconds),
    command,
  ])
  const widths = heads.map((head, at) => Math.max(head.length, ...lines.map((line) => line[at]!.length)))
  const row = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const rule = `|${widths.map((wide) => '-'.repeat(wide + 2)).join('|')}|`
  return [row(heads), rule, ...lines.map(row)].join('\n')
}
