import { fields } from '../../../services/chain-relayer/config'
import { readerOf } from '../../support/ledger'
import { newUser } from '../../support/people'
import { insist } from '../../support/requests'
import { onChain, relayed } from '../boundaries'
import { dripOf, type Path, rowOf, same } from '../path'
import type { World } from '../world'

const dripWei = BigInt(fields.DRIP_WEI.fallback!)

/** Returns users who are verified without native coin, so that they get one drip. */
const newcomers =
  (approve: (world: World, wallet: string) => Promise<unknown>): Path['begin'] =>
  async (world) =>
  async () => {
    const { stack, sql } = world
    const person = await newUser(stack, { wei: 0n })
    await person.me()
    if (approve !== told) await insist(person, '/me/verification', {})
    const { wallet } = person
    return async () => {
      await approve(world, wallet)
      const settled = async () => {
        await leasePasses(world, wallet)
        return dripOf(sql, wallet)
      }
      await rowOf(`the drip of ${wallet}`, settled)
      same('native balance of the wallet', await readerOf(stack).getBalance({ address: wallet }), dripWei)
    }
  }

/** Ends the two-minute lease of an identity check early. */
const leasePasses = ({ sql }: World, wallet: string) => sql`
  update gateway.identity_rechecks set next_check_at = now()
  where wallet = ${wallet} and checked_at is null
  and next_check_at between now() + interval '60 seconds' and now() + interval '117 seconds'`

const told = ({ outside }: World, wallet: string) => outside.identity(wallet, 'approved')

/** Loses the verdict's webhook. */
async function untold({ outside }: World, wallet: string): Promise<void> {
  await outside.faults({ webhooks: { drop: 1 } })
  await outside.identity(wallet, 'approved')
}

const verified = [
  'gateway:identity-decided',
  'gateway:drip-ordered',
  'gateway:published:identity.decided',
  ...relayed('gateway', 'verify', onChain),
  ...relayed('gateway', 'drip'),
]

export const personPaths: readonly Path[] = [
  {
    kind: 'drip',
    name: 'verification and drip',
    boundaries: [
      'gateway:delivery-verified',
      'gateway:delivery-recorded',
      'gateway:took:webhooks.identity.>',
      ...verified,
    ],
    begin: newcomers(told),
  },
  {
    kind: 'identity',
    name: 'verification without its webhook',
    boundaries: ['gateway:identity-found', ...verified],
    begin: newcomers(untold),
  },
]
