import { afterAll, setDefaultTimeout } from 'bun:test'
import { closeSharedStack } from './stack'

setDefaultTimeout(60_000)
afterAll(closeSharedStack, 30_000)
