import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { compileContracts } from '#infra/contracts/compile'

const root = join(import.meta.dir, '../..')

test('compiling again gives the committed files byte for byte', async () => {
  const files = await compileContracts()
  expect(files.size).toBe(3)
  for (const [path, text] of files) {
    expect((await Bun.file(join(root, path)).text()) === text, path).toBe(true)
  }
})
