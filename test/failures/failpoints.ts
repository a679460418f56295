import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import type { ServiceName } from '#shared/messages/topic'

const root = join(import.meta.dir, '../..')

/** Returns every `failpoint('…')` in the code. */
export function boundariesOf(service: ServiceName): string[] {
  const names = new Set<string>()
  for (const path of new Glob(`services/${service}/**/*.ts`).scanSync(root)) {
    for (const [, name] of readFileSync(join(root, path), 'utf8').matchAll(/failpoint\('([^']+)'\)/g)) names.add(name!)
  }
  return [...names].sort()
}
