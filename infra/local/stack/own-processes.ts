import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundleOf } from '#infra/bundle/bundle'
import type { Command } from '#infra/local/child'
import { copyName } from '#infra/local/copies'
import { environments, type OwnProcess, type Places, type Secrets, wishesIn } from '#infra/local/environment'
import { repositoryDir } from '#infra/local/folders'
import type { Processes } from '#infra/local/processes'
import type { StackOptions } from '#infra/local/stack/options'
import { runtimeSettings } from '#infra/local/stack/runtime'
import { type ServiceName, serviceNames } from '#shared/messages/topic'

export type GatewayPorts = { http: number; ops: number }

const ours = (script: string) => join(repositoryDir, script)
export const failpointFile = (dir: string, name: ServiceName) => join(dir, `failpoint-${name}`)

export function startOwnProcesses(
  processes: Processes,
  places: Places,
  secrets: Secrets,
  options: StackOptions,
  gatewayPorts: readonly GatewayPorts[],
  bundles: string,
) {
  mkdirSync(options.dir, { recursive: true })
  const env = environments(places, secrets)
  const command = (name: OwnProcess, script: string, copy = 1): Command => ({
    name: copyName(name, copy),
    bin: process.execPath,
    args: [script],
    env: {
      END_WITH_STDIN: '1',
      ...runtimeSettings,
      ...env[name],
      ...wishesIn(options.own ?? {}, name),
      ...options.env?.[name],
    },
    logFile: join(options.dir, `logs/${copyName(name, copy)}.log`),
    restMaxMs: options.restMaxMs,
  })
  const addService = (name: ServiceName, copy: number) => {
    const elsewhere = options.codeDir?.(copy)
    const script = elsewhere ? join(elsewhere, `services/${name}/main.ts`) : bundleOf(bundles, name)
    const service = command(name, script, copy)
    const { http, ops } = gatewayPorts[copy - 1]!
    const listens = { HTTP_PORT: String(http), OPS_PORT: String(ops) }
    const own = {
      ...(options.failpoints ? { FAILPOINT_FILE: failpointFile(options.dir, name) } : {}),
      ...service.env,
      ...(name === 'gateway' ? listens : {}),
    }
    processes.add({ ...service, env: own })
  }
  processes.add(command('sandbox', ours('infra/sandbox/main.ts')))
  for (const name of options.services ?? serviceNames)
    for (let copy = 1; copy <= gatewayPorts.length; copy++) addService(name, copy)
  if (options.operations) processes.add(command('operations', ours('infra/operations/main.ts')))
}
