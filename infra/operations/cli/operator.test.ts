import { expect, test } from 'bun:test'
import { openOperator, operatorName } from '#infra/operations/cli/operator'

test('a command carries the name of its signer, of --by, or of the login', () => {
  expect(operatorName(undefined, { name: 'alice' }, { USER: 'root' })).toBe('alice')
  expect(operatorName(' sari ', undefined, { USER: 'root' })).toBe('sari')
  expect(operatorName(undefined, undefined, { USER: 'dewi' })).toBe('dewi')
  expect(operatorName(undefined, undefined, { LOGNAME: 'ana' })).toBe('ana')
})

test('security: a command without any name is refused, so that no operator is recorded as unknown', () => {
  for (const env of [{}, { USER: '', LOGNAME: '' }])
    expect(() => operatorName(undefined, undefined, env)).toThrow(
      'no login name in USER or LOGNAME: add --by <your name>',
    )
})

test('a command that cannot reach NATS names the reason', async () => {
  const nats = { url: 'nats://127.0.0.1:1', password: '' }
  await using operator = openOperator({ databaseUrl: 'postgres://ops@127.0.0.1:1/none', nats })
  await expect(operator.bus()).rejects.toThrow('NATS cannot be reached: CONNECTION_REFUSED')
})
