import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { circlesAmong, importsOf, loads, names, reachedFrom } from './imports'

/** This script, `bun test/graph.ts [FILE …]`, prints the sizes of folders, the imports among them and their circles. */
const root = join(import.meta.dir, '..')

/** Paths through the code, with one file per service on the way, since services meet only in messages. */
const paths: Readonly<Record<string, readonly string[]>> = {
  'top-up, route to chain': [
    'services/gateway/routes/topups.ts',
    'services/payments/checkout/open.ts',
    'services/payments/incoming/webhook.ts',
    'services/chain-relayer/operations/order.ts',
    'services/chain-relayer/relay-loop.ts',
  ],
  'webhook to ordered': ['services/payments/incoming/webhook.ts'],
  'cash-out to bank': [
    'services/gateway/routes/cashouts.ts',
    'services/payouts/request/open.ts',
    'services/payouts/onchain/relay.ts',
    'services/payouts/paying/pay.ts',
    'services/chain-relayer/operations/order.ts',
    'services/chain-relayer/relay-loop.ts',
  ],
  'public record': ['services/gateway/routes/verify.ts', 'services/indexer-reader/record.ts'],
}

const all = [...new Glob('{services,shared,infra,test}/**/*.ts').scanSync(root)].sort()
const sources = all.filter((path) => !/\.test\.ts$|\.gen\.ts$|test-support/.test(path))

function reachOf(title: string, starts: readonly string[]): string[] {
  const count = (reading: typeof loads, isCounted: (path: string) => boolean) =>
    String([...reachedFrom(root, starts, reading).files].filter(isCounted).length)
  const inService = (path: string) => path.startsWith('services/')
  const elsewhere = (path: string) => !inService(path)
  return [title, count(loads, inService), count(loads, elsewhere), count(names, inService), count(names, elsewhere)]
}

/** Returns the files directly in each folder; for a service also its total, and the imports among them. */
function foldersOf(): string[][] {
  const sizes = Map.groupBy(sources, dirname)
  return [...sizes]
    .filter(([, files]) => files.length > 15)
    .sort(([, left], [, right]) => right.length - left.length)
    .map(([folder, files]) => [folder, String(files.length)])
}

function servicesOf(): string[][] {
  return [...Map.groupBy(sources, (path) => path.split('/').slice(0, 2).join('/'))]
    .filter(([folder]) => folder.startsWith('services/'))
    .map(([service, files]) => {
      const among = files.flatMap((file) => importsOf(root, file, names).files.filter((other) => files.includes(other)))
      return [service, String(files.length), String(among.length)]
    })
}

function print(head: readonly string[], rows: readonly (readonly string[])[]) {
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]!.length)))
  for (const row of [head, ...rows])
    console.log(row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join('  '))
  console.log('')
}

const starts = process.argv.slice(2)
const asked = starts.length > 0 ? { [starts.join(' ')]: starts } : paths
print(
  ['files reached', 'services', 'shared', 'with types: services', 'shared'],
  Object.entries(asked).map(([title, entries]) => reachOf(title, entries)),
)
if (starts.length === 0) {
  print(['service', 'files', 'imports among them'], servicesOf())
  print(['folders of more than 15 files', 'files'], foldersOf())
  const circles = circlesAmong(root, sources, names)
  console.log(`circles: ${circles.length}`)
  for (const circle of circles) console.log(`  ${circle.join(' ')}`)
}
