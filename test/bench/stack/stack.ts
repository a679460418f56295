import { bootStack, type Stack } from '#infra/local/stack'
import { liftedLimits } from '#test/support/settings'
import { benchDir } from '../bench-dir'
import type { Figure } from '../figure'
import { unlessInterrupted } from '../interrupt'
import { benchMemory } from '../memory/memory'
import { benchMillion } from '../million/million'
import type { BenchName, Options } from '../options'
import { benchAlone } from './alone'
import { benchCost } from './cost'
import { benchFreshness } from './freshness'
import { benchGrowth } from './growth'
import { benchMe } from './me'
import { benchQuote } from './quote'
import { benchSignIn } from './signin'
import { benchSustained } from './sustained'
import { benchTopup } from './topup'
import { benchVerify } from './verify'

type Bench = (stack: Stack, options: Options) => Promise<Figure[]>

/** In the order in which they run: the first needs tables without rows. */
const benches: ReadonlyMap<BenchName, Bench> = new Map([
  ['growth', benchGrowth],
  ['freshness', benchFreshness],
  ['alone', benchAlone],
  ['verify', benchVerify],
  ['me', benchMe],
  ['signin', benchSignIn],
  ['quote', benchQuote],
  ['topup', benchTopup],
  ['cost', benchCost],
  ['sustained', benchSustained],
  ['memory', benchMemory],
  ['million', benchMillion],
])

export async function benchStack(options: Options, say: (line: string) => void): Promise<Figure[]> {
  const wanted = [...benches.keys()].filter((name) => options.names.includes(name))
  if (wanted.length === 0) return []
  using dir = benchDir()
  say('starting a stack')
  await using stack = await bootStack({
    dir: dir.path,
    ports: 'free',
    durable: true,
    syncMs: options.syncMs,
    env: liftedLimits,
  })
  const figures: Figure[] = []
  for (const name of wanted) {
    say(name)
    figures.push(...(await unlessInterrupted(benches.get(name)!(stack, options))))
  }
  return figures
}
