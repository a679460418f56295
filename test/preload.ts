import { afterAll } from 'bun:test'
import { closeSharedStack } from './support/stack'

afterAll(closeSharedStack)
