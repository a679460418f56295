import { join } from 'node:path'
import type { Part, StackFile } from '#infra/local/stack-file'

/** Returns the overview of a running stack: its addresses, and commands to try first. */
export function banner(stack: StackFile, facts: { dir: string; heading: string }): string {
  const { chain, nats, moved = {} } = stack
  const was = (part: Part) => (moved[part] ? `   (${moved[part]} was taken)` : '')
  const monitor = nats.monitor && `   monitor ${nats.monitor}${was('monitor')}`
  const rows: [string, string][] = [
    ['gateway', `${stack.gateway}${was('gateway')}`],
    ['  API docs', `${stack.gateway}/docs`],
    ['  console', `${stack.ops.console}   live operator console`],
    ['  operators', `${stack.ops.gateway}   /metrics, /ready${was('ops')}`],
    ['sandbox', `${stack.sandbox}   simulated payment and identity providers${was('sandbox')}`],
    ['nats', `${nats.url}${was('nats')}${monitor}`],
    ['postgres', `${stack.postgres.url}${was('postgres')}`],
    ['chain', `${chain.rpcUrl}   id ${chain.chainId}${was('chain')}`],
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
    '        bun run demo    plays a whole customer journey, step by step',
    '',
  ].join('\n')
}
