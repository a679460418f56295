import { join } from 'node:path'
import { differenceLines } from '#infra/local/differences'
import type { StackFile, StackPart } from '#infra/local/stack-file'
import { bunRun } from '#infra/local/start/command'

export const natsContext = ({ nats, ops }: StackFile): string =>
  `nats context add ausd --server ${nats.url} --user ops --password ${ops.natsPassword} ` +
  '--inbox-prefix _INBOX_ops --select'

const guideVariables = ({ gateway, chain, sandbox }: StackFile): string =>
  `export BASE_URL=${gateway} RPC_URL=${chain.rpcUrl} SANDBOX=${sandbox}`

export function banner(stack: StackFile, facts: { dir: string; heading: string }): string {
  const { chain, nats, moved = {} } = stack
  const was = (part: StackPart) => (moved[part] ? `   (${moved[part]} was taken)` : '')
  const monitor = nats.monitor && `   monitor ${nats.monitor}${was('monitor')}`
  const rows: [string, string][] = [
    ['app', `${stack.sandbox}/app   the reference app: start here`],
    ['gateway', `${stack.gateway}${was('gateway')}`],
    ['  API docs', `${stack.gateway}/docs`],
    ['  guide', `${stack.gateway}/docs/guide   how to write an app; for its examples:`],
    ['', guideVariables(stack)],
    ['  console', `${stack.ops.console}`],
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
    `  ${'process ids'.padEnd(14)}${pids.join(', ')}`,
    '',
    '  Try:  curl -s -X POST -H "Content-Type: application/json" \\',
    `             -d '{"pair":"USD/IDR"}' ${stack.gateway}/quote`,
    `        ${bunRun} demo         plays a whole customer journey, step by step`,
    `        ${bunRun} ops status   the operator's view`,
    `        ${natsContext(stack)}`,
    '        nats micro ls        with the NATS CLI: every instance',
    '',
    '  Every setting and term is that of a deployment on the test chain, except:',
    ...differenceLines().map((line) => `  ${line}`),
    '',
  ].join('\n')
}
