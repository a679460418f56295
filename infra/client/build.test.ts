import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repositoryDir } from '#infra/local/folders'
import { buildClient, compile, writeModules } from './build'
import { joinDeclarations } from './declarations'

let built: ReadonlyMap<string, string>
let folder: string
beforeAll(async () => {
  built = await buildClient()
  folder = mkdtempSync(join(tmpdir(), 'client-types-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the client that apps install', () => {
  test('is up to date', () => {
    for (const [path, wanted] of built)
      expect(readFileSync(join(repositoryDir, path), 'utf8') === wanted || `${path}: bun run generate client`).toBe(
        true,
      )
  })

  test('is JavaScript that imports nothing, and types that import those of viem alone', () => {
    const sourcesIn = (text: string) =>
      [...text.matchAll(/(?: from |\bimport\(|\bimport |\brequire\()["']([^"']+)["']/g)].map(([, from]) => from)
    const [script, types] = [...built.values()]
    expect(sourcesIn(script!)).toEqual([])
    expect(sourcesIn(types!)).toEqual(['viem'])
  })

  test('has the types of the schemas of each request and response', async () => {
    const names = (await writeModules(folder)).filter((name) => /^shared\/api\/(?!schemas|route)/.test(name))
    const checks = await Promise.all(
      names.map(async (name, at) => {
        const exported = (await import(join(repositoryDir, `${name}.ts`))) as Record<string, object>
        const routes = Object.keys(exported).filter((key) => 'answer' in Object(exported[key]))
        return [
          `import type * as own${at} from '${join(folder, name)}'`,
          `import type * as real${at} from '${join(repositoryDir, name)}'`,
          ...routes.flatMap((key) => [
            `same<own.BodyOf<typeof own${at}.${key}>, real.BodyOf<typeof real${at}.${key}>>(true)`,
            `same<own.RouteAnswer<typeof own${at}.${key}>, real.RouteAnswer<typeof real${at}.${key}>>(true)`,
          ]),
        ]
      }),
    )
    const lines = checks.flat()
    expect(lines.filter((line) => line.startsWith('same')).length).toBeGreaterThan(30)
    writeFileSync(
      join(folder, 'same.ts'),
      [
        `import type * as own from '${join(folder, 'shared/api/route')}'`,
        `import type * as real from '${join(repositoryDir, 'shared/api/route')}'`,
        'declare function same<A, B>(are: [A] extends [B] ? ([B] extends [A] ? true : false) : false): void',
        ...lines.toSorted(),
        'same<string | undefined, string>(true) // These are not the same.',
      ].join('\n'),
    )
    const said = await compile(folder, 'same.ts', { rootDir: '/', types: ['bun-types'] })
    expect(said.split('error')).toHaveLength(2)
    expect(said).toStartWith(`same.ts(${lines.length + 4},`)
  })
})

describe('declarations of several modules', () => {
  const join = (...texts: string[]) => joinDeclarations(new Map(texts.map((text, at) => [`m${at}`, text])), 'm1')
  const schemas = 'export declare namespace schemas {\n}\n'

  test('are joined without what the entry does not need', () => {
    const text = join(
      `${schemas}/** Kept. */\nexport type A = string;\ntype B = A;\nexport declare const c: number;\nexport {};\n`,
      `import type { A } from '#shared/m0';\nimport type { Hex } from 'viem';\nexport type { A } from '#shared/m0';\nexport declare function d(b: import("./m0").B): Hex;\n`,
    )
    expect(text).toBe(
      `import type { Hex } from 'viem'\ndeclare namespace schemas {\n}\n/** Kept. */\ntype A = string;\ntype B = A;\ndeclare function d(b: B): Hex;\nexport { A, d, schemas }\n`,
    )
  })

  test('are refused if two of them mean different things by a name', () => {
    expect(() => join(`${schemas}type A = string;\n`, 'export type A = number;\n')).toThrow('m0 and m1 both declare A')
    expect(() => join(`${schemas}type Hex = string;\n`, `import type { Hex } from 'viem';\n`)).toThrow('declares Hex')
    expect(() => join(schemas, `export { A } from '#shared/m0';\n`)).toThrow('no module declares: A')
  })
})
