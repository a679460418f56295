import { join } from 'node:path'
import type { StackFile } from '#infra/local/stack-file'

/** What a person sees of a stack: where everything is, and what to try first. */
export function banner(stack: StackFile, facts: { dir: string; heading: string }): string {
  const { chain, nats } = stack
  const rows: [string, string][] = [
    ['gateway', stack.gateway],
    ['  interface', `${stack.gateway}/docs`],
    ['  console', `${stack.ops.console}   money in motion, live`],
    ['  operators', `${stack.ops.gateway}   /metrics, /ready`],
    ['sandbox', `${stack.sandbox}   payment and identity providers`],
    ['nats', `${nats.url}   monitor ${nats.monitor}`],
    ['postgres', stack.postgres.url],
    ['chain', `${chain.rpcUrl}   id ${chain.chainId}`],
    ['  AUSD', chain.ausd],
    ['  credit line', chain.creditLine],
    ['  treasury', chain.treasury],
    ['logs', join(facts.dir, 'logs')],
    ['stack file', join(facts.dir, 'stack.json')],
  ]
  const pids = Object.entries(stack.services).map(([name, { pid }]) => `${name} ${pid}`)
  return [
    '',
    facts.heading,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(14)}${value}`),
    `  ${'services'.padEnd(14)}${pids.join(', ')}`,
    '',
    '  Try:  curl -s -X POST -H "Content-Type: application/json" \\',
    `             -d '{"pair":"USD/IDR"}' ${stack.gateway}/quote`,
    '        bun run demo    the whole story, told as it happens',
    '',
  ].join('\n')
}
