import { eq } from 'drizzle-orm'
import { runCommand } from '#platform/command'
import { readConfig, secretsOf } from '#platform/config'
import { type Database, openDatabase } from '#platform/db/open'
import { databaseUrlOf } from '#platform/db/url'
import { pause } from '#platform/deadline'
import { type Log, openLog } from '#platform/log'
import { secretWordsOf } from '#platform/redaction'
import { fields } from './config'
import { beginGeneration, cursors, dropRetired } from './cursor.store'

/**
 * This script requests a new projection, which the running service fills while the old one answers, and waits for it.
 * With `--clean` it then deletes retired generations, which needs an owner's DATABASE_URL.
 */
const { DATABASE_URL, DATABASE_PASSWORD, CHAIN_ID, CREDIT_LINE_ADDRESS, DEPLOY_BLOCK } = fields
const environment = { DATABASE_URL, DATABASE_PASSWORD, CHAIN_ID, CREDIT_LINE_ADDRESS, DEPLOY_BLOCK }

await runCommand(
  () => secretsOf(environment),
  async () => {
    const config = readConfig('rebuild', environment)
    const log = openLog('rebuild', 'info', undefined, secretsOf(environment).flatMap(secretWordsOf))
    await using database = openDatabase({
      url: databaseUrlOf(config),
      name: 'rebuild',
      log,
      onFatal: () => {
        process.exitCode = 1
      },
    })
    const generation = await beginGeneration(database, {
      chainId: config.chainId,
      contract: config.creditLineAddress,
      deployBlock: config.deployBlock,
    })
    log.info({ generation }, 'rebuild requested')
    await untilServing(database, generation, log)
    log.info({ generation }, 'rebuild now serving')
    if (process.argv.includes('--clean')) {
      await dropRetired(database)
      log.info('retired generations deleted')
    }
  },
)

async function untilServing(database: Database, generation: number, log: Log) {
  let shownBlock = -1
  for (;;) {
    const [cursor] = await database.read((db) => db.select().from(cursors).where(eq(cursors.generation, generation)))
    if (!cursor || cursor.state === 'retired') throw new Error('superseded by another rebuild')
    if (cursor.state === 'serving') return
    if (cursor.blockNumber !== shownBlock) {
      log.info({ block: cursor.blockNumber, events: cursor.sequence }, 'rebuild in progress')
    }
    shownBlock = cursor.blockNumber
    await pause(500)
  }
}
