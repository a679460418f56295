import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { questions, topics } from '#shared/messages/catalogue'

const subjectIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  if ('subject' in value && typeof value.subject === 'string') return [value.subject]
  return Object.values(value).flatMap((one) =>
    one && typeof one === 'object' && 'subject' in one ? subjectIn(one) : [],
  )
}

test('every message and request that a file here declares is in the catalogue', async () => {
  const listed = new Set([...topics, ...questions].map(({ subject }) => subject))
  const files = [...new Glob('*.ts').scanSync(import.meta.dir)].filter((path) => !path.endsWith('.test.ts'))
  const declared = await Promise.all(
    files.map(async (path) => Object.values((await import(join(import.meta.dir, path))) as object).flatMap(subjectIn)),
  )
  expect(declared.flat().length).toBeGreaterThan(50)
  expect(declared.flat().filter((subject) => !listed.has(subject))).toEqual([])
})

test('every subject of the catalogue is listed once', () => {
  const subjects = [...topics, ...questions].map(({ subject }) => subject)
  expect(subjects.filter((subject, at) => subjects.indexOf(subject) !== at)).toEqual([])
})
