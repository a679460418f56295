import { createTestClient, http, publicActions } from 'viem'
import type { SandboxContext } from '../context'
import { type Control, Refusal } from './control'

/** Longest step in seconds, which is enough for any term. */
const secondsMax = 366 * 86_400
const nodeTimeoutMs = 5_000
/** Maximum number of blocks to mine. A node of this repository needs three. */
const blocksMax = 100

/**
 * What follows the chain's clock and what does not. Each response contains this, so that no test waits for a clock that
 * stands still.
 */
const follows = {
  moved: ['due dates', 'grace periods', 'reminders', 'holds', 'validity of signed transfers'],
  unmoved: ['quotes', 'sessions', 'checkouts', 'daily limits', 'retries', 'the providers'],
  advice:
    'Sign transfers with validBefore after chainTime. A settlement is dated by the provider, whose clock has ' +
    'not moved, up to a day before chainTime: it is Late from a day after dueAt.',
}

/** Controls of the local chain's clock, which can only go forward. */
export const chainControls = ({ config }: Pick<SandboxContext, 'config'>): Control[] => [
  {
    method: 'POST',
    path: '/control/chain/advance',
    async run(_, { seconds }) {
      if (typeof seconds !== 'number' || !Number.isInteger(seconds))
        throw new Refusal(400, 'seconds must be an integer')
      if (seconds < 1 || seconds > secondsMax) throw new Refusal(400, `seconds must be from 1 to ${secondsMax}`)
      if (config.rpcUrl === null) throw new Refusal(409, 'this sandbox has no local chain')
      return { chainTime: String(await advance(config.rpcUrl, seconds)), ...follows }
    },
  },
]

/** Moves the clock, and mines until the new time is `finalized`. */
async function advance(rpcUrl: string, seconds: number): Promise<bigint> {
  const client = createTestClient({
    mode: 'anvil',
    cacheTime: 0,
    transport: http(rpcUrl, { timeout: nodeTimeoutMs }),
  }).extend(publicActions)
  const { timestamp: before } = await client.getBlock({ blockTag: 'latest' })
  await client.increaseTime({ seconds }).catch((error: Error) => {
    throw new Refusal(409, `the chain does not let its clock be moved: ${firstLine(error)}`)
  })
  for (let mined = 0; mined < blocksMax; mined++) {
    await client.mine({ blocks: 1 })
    const { timestamp } = await client.getBlock({ blockTag: 'finalized' })
    if (timestamp >= before + BigInt(seconds)) return timestamp
  }
  throw new Refusal(409, `the new time was not finalized within ${blocksMax} blocks`)
}

const firstLine = ({ message }: Error) => message.split('\n', 1)[0]
