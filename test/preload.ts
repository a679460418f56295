import { afterAll, beforeEach } from 'bun:test'
import { waitForDay } from './runner/midnight'
import { useFolderInMemory } from './runner/temporary'
import { closeSharedStack } from './support/stack'

useFolderInMemory()

beforeEach(waitForDay)
afterAll(closeSharedStack)
