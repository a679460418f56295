import { cpus, loadavg, type as osName, release, totalmem } from 'node:os'

export type Machine = {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly os: string
  readonly bun: string
  readonly loadBefore: number
}

export const thisMachine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  os: `${osName()} ${release()}`,
  bun: Bun.version,
  loadBefore: Number(loadavg()[0]!.toFixed(2)),
})

export const machineText = (machine: Machine): string =>
  `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.os}, ` +
  `Bun ${machine.bun}, load before ${machine.loadBefore}`
