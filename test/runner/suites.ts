import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { repositoryDir } from '#infra/local/folders'

/** Tiers of `bun run test`, `bun run test:all` and `bun run prove`. */
export type Tier = 'quick' | 'ci' | 'proof'

/** Returns the tier of a suite by its name: `topup.test.ts`, `holds.ci.test.ts`, `restore.proof.test.ts`. */
export const tierOf = (path: string): Tier =>
  /\.proof\.test\.ts$/.test(path) ? 'proof' : /\.ci\.test\.ts$/.test(path) ? 'ci' : 'quick'

export const allSuites = (): string[] =>
  [...new Glob('{services,shared,infra,test}/**/*.test.ts').scanSync(repositoryDir)].sort()

/** A selection of suites; `patterns` are parts of paths. */
export type Selection = { readonly tiers: readonly Tier[]; readonly patterns: readonly string[] }

/** Selects suites; patterns select from every tier. */
export function select(paths: readonly string[], { tiers, patterns }: Selection): string[] {
  if (patterns.length === 0) return paths.filter((path) => tiers.includes(tierOf(path)))
  const wanted = patterns.map((pattern) => pattern.replace(/^\.\//, ''))
  return paths.filter((path) => wanted.some((part) => path.includes(part)))
}

/** Returns the durations in seconds that `--update-timings` recorded with six workers. */
export function recordedSeconds(paths: readonly string[]): Map<string, number> {
  const { files } = JSON.parse(readFileSync(timingsPath, 'utf8')) as {
    files: Record<string, number>
  }
  return new Map(paths.map((path) => [path, (files[path] ?? 2_000) / 1_000]))
}
export const timingsPath = join(repositoryDir, 'test/timings.json')
