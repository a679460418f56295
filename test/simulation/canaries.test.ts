import { expect, test } from 'bun:test'
import { repositoryDir } from '#infra/local/folders'
import { canaries } from '../support/canary'

test.each(canaries)('the planted defect in %s can be planted in the present sources', (name) => {
  const check = ['git', 'apply', '--check', `test/simulation/canaries/${name}.patch`]
  const { stderr } = Bun.spawnSync(check, { cwd: repositoryDir })
  expect(stderr.toString()).toBe('')
})
