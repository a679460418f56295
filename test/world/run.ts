import { refuseWords } from '#infra/local/words'
import { campaign } from './plans/campaign-main'
import { crashes } from './plans/crashes/main'
import { outages } from './plans/outages-main'

/** Plans of this world. Each prints its findings, and its options for `--help`. */
const plans: { readonly [name: string]: (words: readonly string[]) => Promise<number> } = {
  campaign,
  crashes,
  outages,
}

const [name = '', ...words] = process.argv.slice(2)
const plan = plans[name]
if (!plan) refuseWords(`unknown plan: ${name || 'none'}`, `test/world/run.ts ${Object.keys(plans).join('|')} [option…]`)
process.exit(await plan(words))
