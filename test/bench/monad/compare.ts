import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * This script, `bun test/bench/monad/compare.ts [suite …]`, runs the gas suites' transactions with `monad-revm`. It
 * needs Rust; the first build takes minutes.
 */
const suites = ['gas.test.ts', 'user-gas.test.ts', 'lots.ci.test.ts']
const columns = ['Monad', 'model', 'least limit', 'behind proxy', 'our limit', 'anvil'] as const

/** Figures of a suite; `model` excludes the token's proxy. */
type Given = { name: string; limit: number; anvil: number; model: number }
/** Figures measured by `main.rs`. A least limit is the smallest one with the same outcome. */
type Found = { gas: number; least: number; ethereum: number; proxied: number; proxiedLeast: number }

const cargo = Bun.which('cargo')
if (!cargo) {
  console.error('cargo is not on the PATH. Install Rust 1.91 or later, and repeat.')
  process.exit(2)
}
const dir = mkdtempSync(join(tmpdir(), 'monad-gas-'))
try {
  const traces = await traceCalls(join(dir, 'traces.jsonl'))
  const [head, ...found] = linesOf<unknown>(await execute(cargo, traces))
  const given = linesOf<Given>(traces)
  const rows = given.map((one, at) => ({ ...one, ...(found[at] as Found) }))
  console.log(`monad-revm, ${(head as { hardfork: string }).hardfork}\n\n${tableOf(rows)}`)
  const faults = rows.flatMap(faultsOf)
  if (faults.length > 0) console.error(`\n${faults.join('\n')}`)
  process.exitCode = faults.length > 0 ? 1 : 0
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** Runs the suites and returns the traces, one line of JSON each. */
async function traceCalls(file: string): Promise<string> {
  const named = process.argv.slice(2)
  const paths = (named.length > 0 ? named : suites).map((suite) => `infra/contracts/${suite}`)
  await run([process.execPath, 'test', ...paths], { env: { ...process.env, GAS_TRACES: file } })
  return readFileSync(file, 'utf8')
}

function execute(bin: string, traces: string): Promise<string> {
  const target = process.env.CARGO_TARGET_DIR ?? join(tmpdir(), 'monad-gas-target')
  const manifest = join(import.meta.dir, 'Cargo.toml')
  const words = ['run', '--release', '--locked', '--quiet']
  const places = ['--manifest-path', manifest, '--target-dir', target]
  return run([bin, ...words, ...places], { stdin: new Blob([traces]) })
}

async function run(words: string[], options: { env?: NodeJS.ProcessEnv; stdin?: Blob }) {
  const child = Bun.spawn(words, { stdin: 'ignore', ...options, stdout: 'pipe', stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`${words[0]} failed`)
  return text
}

function linesOf<T>(text: string): T[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function tableOf(rows: readonly (Given & Found)[]): string {
  const cells = rows.map((row) => {
    const limits = [row.least, row.proxiedLeast, row.limit || '']
    return [row.name, row.gas, row.model, ...limits, row.anvil].map(String)
  })
  const table = [['call', ...columns], ...cells]
  const widths = table[0]!.map((_, at) => Math.max(...table.map((row) => row[at]!.length)))
  const padded = (cell: string, at: number) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))
  return table.map((row) => row.map(padded).join('  ')).join('\n')
}

/** Returns the faults of a call. The model may exceed the real gas by at most 1 %. */
function faultsOf({ name, gas, model, anvil, ethereum, limit, proxiedLeast }: Given & Found) {
  const faults: [boolean, string][] = [
    [ethereum !== anvil, `revm needs ${ethereum} by Ethereum's rules, anvil ${anvil}`],
    [model < gas || model > gas * 1.01, `the model is ${model - gas} off`],
    [limit > 0 && limit < proxiedLeast, `the limit is below ${proxiedLeast}`],
  ]
  return faults.flatMap(([isFault, fault]) => (isFault ? [`${name}: ${fault}`] : []))
}
