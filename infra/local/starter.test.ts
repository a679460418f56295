import { expect, test } from 'bun:test'
import { isStartedByNpm } from '#infra/local/starter'

// As set by Bun 1.4.5 and npm 11.19.
test.each([
  ['npx -y bun run start', 'npm/11.19.1 node/v20.20.2 linux x64 workspaces/false', true],
  ['bun run start', 'bun/1.4.5 npm/? node/v26.3.0 linux x64', false],
  ['bun infra/local/start.ts', undefined, false],
])('isStartedByNpm recognises "%s"', (_, agent, byNpm) => {
  expect(isStartedByNpm({ npm_config_user_agent: agent, npm_config_local_prefix: '/x' })).toBe(byNpm)
})
