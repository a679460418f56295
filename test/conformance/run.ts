import { helpIfAsked } from '#infra/local/words'
import { usage } from './arguments'
import { conform } from './conform'

helpIfAsked(process.argv.slice(2), usage)
process.exitCode = await conform(process.argv.slice(2), process.env, (text) => console.log(text))
