import { runCommand } from '#platform/command'
import { openEngine } from './engine'
import { provideImages } from './images'
import { rehearseLocal } from './local'
import { report } from './report'
import { rehearseRunbook } from './runbook'
import { layStack } from './stack'

/** Runs the local stack and the deployment runbook on a real engine. */
const parts = process.argv.slice(2)
const unknown = parts.find((part) => part !== 'local' && part !== 'runbook')
if (unknown) {
  console.log('bun run prove rehearsal [local] [runbook]    both parts unless one is named')
  process.exit(unknown === '--help' ? 0 : 2)
}
const isAsked = (part: string) => parts.length === 0 || parts.includes(part)

await runCommand(
  () => [],
  async (say) => {
    const engine = await openEngine(say)
    try {
      await provideImages(engine, say)
      const stack = layStack(engine)
      if (isAsked('local')) await rehearseLocal(engine, stack)
      if (isAsked('runbook')) await rehearseRunbook(engine, stack)
    } finally {
      const { text } = await engine.docker(['ps', '-q'])
      const ids = text.trim().split('\n').filter(Boolean)
      if (ids.length > 0) await engine.docker(['kill', ...ids])
      await engine.end()
    }
    const { text, code, steps, wrong } = report()
    say(text)
    say(`\nproof: ${steps} steps; ${wrong} found`)
    return code
  },
)
process.exit()
