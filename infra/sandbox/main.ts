import pino from 'pino'
import { loadConfig } from './config'
import { openSandbox } from './sandbox'

const log = pino({ name: 'sandbox' })
await using sandbox = openSandbox(loadConfig())
log.info({ url: sandbox.url }, 'sandbox listening')
await new Promise<void>((resolve) => {
  process.once('SIGINT', () => resolve())
  process.once('SIGTERM', () => resolve())
})
log.info('sandbox closing')
