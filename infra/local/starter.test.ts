import { expect, test } from 'bun:test'
import { isStartedByNpm, watchedLevels } from '#infra/local/starter'

// As set by Bun 1.4.5 and npm 11.19.
test.each([
  ['npm start', 'npm/12.2.2 node/v26.12.1 linux x64 workspaces/false', true],
  ['npx -y bun run start', 'npm/11.19.1 node/v20.20.2 linux x64 workspaces/false', true],
  ['bun run start', 'bun/1.4.5 npm/? node/v26.3.0 linux x64', false],
  ['bun infra/local/start.ts', undefined, false],
])('isStartedByNpm recognises "%s"', (_, agent, byNpm) => {
  expect(isStartedByNpm({ npm_config_user_agent: agent, npm_config_local_prefix: '/x' })).toBe(byNpm)
})

// As seen with npm 10 to 12; a shell that replaces itself by its command is missing.
test.each([
  ['npm start', ['sh', 'npm start', 'bash', 'login'], true, 2],
  ['npm start, without its shell', ['npm start', 'bash', 'login', 'init'], true, 1],
  ['npx bun run start', ['bun', 'sh', 'npm exec bun@1.', 'bash'], true, 3],
  ['npx bun run start, with every shell', ['sh', 'bun', 'sh', 'npm exec bun@1.'], true, 4],
  ['npm start, on a system without /proc', ['', '', '', ''], true, 2],
  ['bun run start', ['bun', 'bash', 'npm run shell', 'login'], false, 1],
])('"%s" ends with its ancestors %j (by npm: %p), of which it watches %i', (_, names, isByNpm, levels) => {
  expect(watchedLevels(names, isByNpm)).toBe(levels)
})
