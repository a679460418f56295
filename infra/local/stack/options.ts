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
  /** `wanted` uses the well-known ports, or others where those are taken. `free` uses any. */
  ports: 'wanted' | 'free'
  /** True if the data survives a power cut. Suites do not need that. */
  durable: boolean
  /** Time in ms by which each sync of Postgres and nats-server to the disk takes longer. It needs strace(1). */
  syncMs?: number | undefined
  /** Cluster from which Postgres is copied. Without it, Postgres is empty. */
  cluster?: Cluster
  /** Settings of a process that replace those of `environments`. */
  env?: Partial<Record<OwnProcess, Env>>
  /** True if a service can be killed at a failpoint. */
  failpoints?: boolean
  services?: readonly ServiceName[]
  /** Redelivery delay in ms of a message whose reader died; 20 s by default. */
  ackWaitMs?: number
  restMaxMs?: number
  copies?: number
  /** Returns the code folder of an instance (from 1) that does not run from this repository. */
  codeDir?: (copy: number) => string | undefined
  /** False if the start does not wait for the operators' process. */
  operations?: boolean
  terms?: Partial<LocalChainTerms>
  own?: Readonly<Record<string, string | undefined>>
  /** True if services reach the chain through a fault proxy. With `and directly`, the node is their second endpoint. */
  proxied?: boolean | 'and directly'
  /** True if the console has sandbox controls. */
  controls?: boolean
  /** Returns the host and port that services use instead of these. */
  wire?: (to: 'nats' | 'postgres', host: string) => string
  /** Path of the RPC URL, such as a vendor's `/v2/<key>`. */
  rpcPath?: string
  data?: DataPlan
  /** Signal that cancels the start, which throws once every process has ended. */
  signal?: AbortSignal
  /** Called before anything in the folder changes. */
  onOwned?: () => void
  progress?: StartProgress
  choosePort?: (part: StackPart, wanted: number) => Promise<number>
  onDeath?: (death: ProcessDeath) => void
}
