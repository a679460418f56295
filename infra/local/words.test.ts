import { expect, test } from 'bun:test'
import { takenByNpm } from '#infra/local/words'

const byNpm = { npm_config_user_agent: 'npm/11.19.1 node/v20.20.2', npm_lifecycle_event: 'deploy' }

test('an option that npm took for itself is named, with the command that passes it on', () => {
  expect(takenByNpm(['dry-run'], { ...byNpm, npm_config_dry_run: 'true' })).toBe(
    'npm took --dry-run for itself: write `npm run deploy -- --dry-run`',
  )
  expect(takenByNpm(['own', 'keep'], { ...byNpm, npm_config_keep: 'true' })).toContain('npm took --keep')
})

test('options are not taken by npm without one, or under `bun run`', () => {
  expect(takenByNpm(['dry-run'], byNpm)).toBeUndefined()
  expect(
    takenByNpm(['dry-run'], { npm_config_user_agent: 'bun/1.4.5 npm/?', npm_config_dry_run: 'true' }),
  ).toBeUndefined()
})
