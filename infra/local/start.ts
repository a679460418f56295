import { join } from 'node:path'
import { processes } from '#infra/configuration/processes'
import { banner } from '#infra/local/banner'
import { repositoryDir } from '#infra/local/folders'
import { bootStack } from '#infra/local/stack'
import { watchStarter } from '#infra/local/starter'
import { secretsOf } from '#shared/config'
import { redactorOf, secretWordsOf } from '#shared/redaction'

/** `bun run start`: everything this service needs, on this machine, until Ctrl-C. */
const dir = process.env.LOCAL_DIR ?? join(repositoryDir, '.local')
const startedAt = Date.now()
const stopping = Promise.withResolvers<string>()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => stopping.resolve(signal))
}
watchStarter(() => stopping.resolve('its starter is gone'))

const stack = await bootStack({
  dir,
  ports: 'wanted',
  durable: true,
  books: true,
  pruning: true,
  own: process.env,
  onDeath: ({ name, how, livedMs, restartInMs }) => {
    console.log(
      `  ${name} died (${how}) after ${livedMs} ms, starting it again in ${restartInMs} ms`,
    )
    // Its state was in its memory: nothing that the books say would be true of a new one.
    if (name === 'chain') stopping.resolve('the local chain is gone and cannot be brought back')
  },
}).catch((error: Error) => {
  const secrets = Object.values(processes).flatMap((fields) => secretsOf(fields))
  const redact = redactorOf(secrets.flatMap(secretWordsOf))
  console.error(redact(`The stack did not start: ${error.message}`))
  console.error(`Logs are in ${join(dir, 'logs')}`)
  process.exit(1)
})
console.log(banner(stack.info, { dir, bootMs: Date.now() - startedAt }))
console.log(`\nStopping: ${await stopping.promise}`)
await stack[Symbol.asyncDispose]()
process.exit(0)
