import { expect, test } from 'bun:test'
import { announcedIn } from './messages'

const stored = { stream: 'COMMANDS', id: 'msg_1', subject: 'relay.credit', text: '' }
const noted = { schema: 'payments', id: 'msg_1', subject: 'relay.credit' }

test.each([
  ['a message that is stored', noted, []],
  [
    'another of its subject',
    { ...noted, id: 'msg_2' },
    ['payments published relay.credit msg_2, which is in no stream'],
  ],
])('%s is distinguished from a lost message', (_, one, missing) => {
  expect(announcedIn([one], [stored])).toEqual({ noted: 1, missing })
})
