import { afterAll } from 'bun:test'
import { closeSharedStack } from './stack'

afterAll(closeSharedStack, 30_000)
