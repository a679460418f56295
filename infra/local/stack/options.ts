import type { LocalChainTerms } from '#infra/local/chain'
import type { Env, OwnProcess } from '#infra/local/environment'
import type { Cluster } from '#infra/local/postgres'
import type { StackPart } from '#infra/local/stack-file'
import type { DataPlan } from '#infra/local/start/kept'
import type { StartProgress } from '#infra/local/start/progress'
import type { ProcessDeath } from '#infra/local/supervisor'
import type { ServiceName } from '#shared/messages/topic'

export const wantedPorts: Record<StackPart, number> = {
  gateway: 3000,
  ops: 3001,
  sandbox: 3100,
  nats: 4222,
  monitor: 8222,
  postgres: 5432,
  chain: 8545,
}

export type StackOptions = {
  dir: string
  /** `wanted`: the well-known ports, or others where taken. `free`: any. */
  ports: 'wanted' | 'free'
  /** Survives a power cut; suites do not need that. */
  durable: boolean
  /** Source of its Postgres; default: an empty one. */
  cluster?: Cluster
  /** `deployed`: production's recheck intervals, no failpoints. Default: short ones, with failpoints. */
  times?: 'deployed'
  /** `deployed`: a deployment's default limits. Default: lifted. */
  limits?: 'deployed'
  env?: Partial<Record<OwnProcess, Env>>
  services?: readonly ServiceName[]
  /** Redelivery delay of a message whose reader died; default 20 s. */
  ackWaitMs?: number
  restMaxMs?: number
  copies?: number
  /** Code folder of an instance (from 1) that does not run from this repository. */
  codeDir?: (copy: number) => string | undefined
  /** The start does not wait for the operators' process. */
  operations?: boolean
  terms?: Partial<LocalChainTerms>
  own?: Readonly<Record<string, string | undefined>>
  /** Services reach the chain through a fault proxy. `and directly`: the node is their second endpoint. */
  proxied?: boolean | 'and directly'
  /** Sandbox controls in the console; only if the stack has its own sandbox. */
  controls?: boolean
  /** Returns the host and port that services use instead of these. */
  wire?: (to: 'nats' | 'postgres', host: string) => string
  /** Path of the RPC URL, such as a vendor's `/v2/<key>`. */
  rpcPath?: string
  data?: DataPlan
  /** Cancels a start, which throws once every process has ended. */
  signal?: AbortSignal
  /** Called before anything in the folder changes. */
  onOwned?: () => void
  progress?: StartProgress
  choosePort?: (part: StackPart, wanted: number) => Promise<number>
  onDeath?: (death: ProcessDeath) => void
}
