import { createHash } from 'node:crypto'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { type Outside, outsideOf } from '#infra/demo/outside'
import { type Person, personOf } from '#infra/demo/person'
import type { Stack } from '#infra/local/stack'
import { openCopies } from '../scale/world'
import { openContractWallets } from '../support/contract-wallets'
import { fund } from '../support/people'
import { quickChecks } from '../support/stack'

import type { Options } from './options'
import { openWire, type Wire } from './wire'

/** Long enough that money can be taken back within it, short enough that many holds end in a campaign. */
const holdSeconds = 20
/** What a person has at first, 10⁻⁶ AUSD: enough for every cash-out and send of an hour. */
const startMicro = 2_000_000_000n
const startWei = 10n ** 19n
/** Of so many people one signs by a contract wallet. */
const contractEvery = 8

export type World = AsyncDisposable & {
  readonly stack: Stack
  readonly outside: Outside
  readonly wires: { readonly nats: Wire; readonly postgres: Wire }
  /** Copies that were stopped for good, as faults name their targets. */
  readonly retired: Set<string>
  /** A person with money, verified, from the seed: the same key at the same index. */
  readonly newPerson: (index: number) => Promise<{ person: Person; isContract: boolean }>
}

/**
 * Two copies of each service behind one address; between them and NATS, Postgres and the chain a piece of
 * network each that can be cut and made slow.
 */
export async function openWorld({ seed }: Options, older: string | null): Promise<World> {
  const wires: Partial<Record<'nats' | 'postgres', Wire>> = {}
  const copies = await openCopies({
    proxied: true,
    terms: { holdSeconds, minCycleSeconds: 5 },
    wire: (to, host) => {
      const { hostname, port } = new URL(`tcp://${host}`)
      wires[to] = openWire({ hostname, port: Number(port) })
      return wires[to].host
    },
    ...(older === null ? {} : { codeDir: (copy) => (copy === 1 ? older : undefined) }),
    env: { payments: { ...quickChecks.payments, HOLD_MARGIN_MS: '5000' } },
  })
  const { stack, info } = copies
  const outside = outsideOf(info)
  const contracts = openContractWallets(stack)
  return {
    ...{ stack, outside, wires: wires as World['wires'], retired: new Set() },
    newPerson: async (index) => {
      const key = keyOf(seed, index)
      const isContract = index % contractEvery === contractEvery - 1
      const owner = privateKeyToAccount(key)
      const signer = isContract
        ? contracts.signerOf(await contracts.deploy(owner.address), owner)
        : key
      const person = personOf(info, signer)
      await fund(stack, person.wallet, { ausdMicro: startMicro, wei: isContract ? 0n : startWei })
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
