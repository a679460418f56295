import { expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { fixtureOf } from '../test-support/fixture'

test('the document passes the recommended rules of Redocly without a remark', async () => {
  const fixture = await fixtureOf()
  const source = await (await fixture.call('GET', '/openapi.json')).text()
  const config = await createConfig('extends: [recommended]')
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  const said = problems.map(({ severity, ruleId, message, location }) =>
    [severity, ruleId, message, location[0]?.pointer].join(' '),
  )
  expect(said).toEqual([])
})
