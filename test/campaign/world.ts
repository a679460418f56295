import { createHash } from 'node:crypto'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type ExternalControls, outsideOf } from '#infra/demo/external'
import type { Person } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { openCopies } from '../scale/world'
import { deployWallet, walletSigner } from '../support/contract-wallets'
import { newUser } from '../support/people'
import { quickChecks } from '../support/stack'

import type { Options } from './options'
import { openWire, type Wire } from './wire'

/** Holds in seconds: long enough for a reversal within one, short enough that many end. */
const holdSeconds = 20
/** AUSD (10⁻⁶) of each user at the start, enough for an hour of cash-outs and sends. */
const startMicro = 2_000_000_000n
const startWei = 10n ** 19n
/** Number of users per contract wallet. */
const contractEvery = 8

export type World = AsyncDisposable & {
  readonly stack: Stack
  readonly outside: ExternalControls
  readonly wires: { readonly nats: Wire; readonly postgres: Wire }
  /** Targets of faults that an upgrade has stopped. */
  readonly retired: Set<string>
  /** Returns a funded and verified user, whose key the seed and the index determine. */
  readonly newPerson: (index: number) => Promise<{ person: Person; isContract: boolean }>
}

/**
 * Opens two instances of each service behind one address. With an even seed there is a second chain endpoint, without
 * faults.
 */
export async function openWorld({ seed }: Options, older: string | null): Promise<World> {
  const wires: Partial<Record<'nats' | 'postgres', Wire>> = {}
  const copies = await openCopies({
    proxied: seed % 2 === 0 ? 'and directly' : true,
    terms: { holdSeconds, minCycleSeconds: 5 },
    wire: (to, host) => {
      const { hostname, port } = new URL(`tcp://${host}`)
      wires[to] = openWire({ hostname, port: Number(port) })
      return wires[to].host
    },
    ...(older === null ? {} : { codeDir: (copy) => (copy === 1 ? older : undefined) }),
    env: {
      payments: {
        ...quickChecks.payments,
        HOLD_MARGIN_MS: '5000',
        // A fault sets the provider's clock back by two hours; in production the overlap is days.
        PROVIDER_LIST_RECENT_MS: '10800000',
      },
      payouts: { CASHOUT_REFUSED_DAY_MAX: '1000000' },
    },
  })
  const { stack, info } = copies
  const outside = outsideOf(info)
  const reached = { info, dir: stack.dir, adminUrl: stack.adminUrl }
  return {
    stack,
    outside,
    wires: wires as World['wires'],
    retired: new Set(),
    newPerson: async (index) => {
      const key = keyOf(seed, index)
      const isContract = index % contractEvery === contractEvery - 1
      const owner = privateKeyToAccount(key)
      const signer = isContract ? walletSigner(await deployWallet(stack, owner.address), owner) : key
      const has = { ausdMicro: startMicro, wei: isContract ? 0n : startWei }
      const person = await newUser(reached, has, signer)
      await outside.identity(person.wallet, 'approved')
      return { person, isContract }
    },
    [Symbol.asyncDispose]: async () => {
      await copies[Symbol.asyncDispose]()
      for (const wire of Object.values(wires)) await wire[Symbol.asyncDispose]()
    },
  }
}

const keyOf = (seed: number, index: number): Hex =>
  `0x${createHash('sha256').update(`campaign ${seed} ${index}`).digest('hex')}`
