import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { waitUntil } from '#infra/local/wait'
import { ausdOf } from '../../support/ledger'
import { insist } from '../../support/requests'
import { onChain } from '../boundaries'
import { type Path, patienceMs, rowOf, same, settledUser } from '../path'

const sentMicro = 1_500_000n

const sends: Path['begin'] = async (world) => {
  const { stack, sql } = world
  const person = await settledUser(world, { ausdMicro: 1_000_000_000n })
  return async () => {
    const to = privateKeyToAddress(generatePrivateKey())
    const authorization = await person.sign({ to, valueMicro: sentMicro })
    return async () => {
      const { sendId } = await insist(person, '/sends', { authorization })
      await rowOf(
        `${sendId} to be sent`,
        () => sql`select id from chain_relayer.operation where cause = ${sendId} and state = 'settled'`,
      )
      same('AUSD received', await ausdOf(stack, to), sentMicro)
    }
  }
}

/** Begins sends whose first fee the node refuses. */
const dearer: Path['begin'] = async (world) => {
  const { stack, sql } = world
  const ready = await sends(world)
  const refusing = { poolErrorRate: 1, poolWord: 'Transaction fee too low' } as const
  const raised = async () => {
    const [row] = await sql`
      select count(*)::int as attempts from chain_relayer.attempt where attempt > 1`
    return row!.attempts as number
  }
  return async () => {
    const item = await ready()
    return async () => {
      const before = await raised()
      stack.rpcProxy!.setFaults({ ...refusing, stickyRefusals: true })
      const isRaised = waitUntil('a higher fee', async () => (await raised()) > before, patienceMs)
      await Promise.all([isRaised.finally(() => stack.rpcProxy!.setFaults({})), item()])
    }
  }
}

const sent = ['gateway:order-read', 'gateway:order-answered', ...onChain]

export const sendPaths: readonly Path[] = [
  {
    kind: 'send',
    name: 'send',
    boundaries: [...sent, 'chain-relayer:published:relay.send.settled'],
    begin: sends,
  },
  {
    kind: 'send',
    name: 'send with a raised fee',
    boundaries: [...sent, 'chain-relayer:attempt-stored'],
    begin: dearer,
  },
]
