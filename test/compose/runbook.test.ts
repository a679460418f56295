import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  commandsInText,
  headingsWithBlocks,
  notRehearsed,
  rehearsedBlocks,
} from '#infra/compose/rehearse/runbook-text'
import { repositoryDir } from '#infra/local/folders'

const rehearsal = ['deployment.ts', 'runbook.ts', 'runbook-days.ts']
  .map((name) => readFileSync(join(repositoryDir, 'infra/compose/rehearse', name), 'utf8'))
  .join('\n')

test('every block of the runbook is rehearsed', () => {
  expect(headingsWithBlocks()).toEqual(Object.keys(rehearsedBlocks))
  for (const [heading, part] of Object.entries(rehearsedBlocks))
    if (part === 'runbook') expect(rehearsal).toContain(`blocksOf('${heading}')`)
})

test('every command in its text is rehearsed as it stands there, or has a reason', () => {
  const left = commandsInText().filter(
    (command) => !(command in notRehearsed) && !rehearsal.includes(command),
  )
  expect(left).toEqual([])
})

test('and no reason is given for a command that is not there', () => {
  const said = new Set(commandsInText())
  expect(Object.keys(notRehearsed).filter((command) => !said.has(command))).toEqual([])
})
