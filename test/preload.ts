import { afterAll, beforeEach } from 'bun:test'
import { useFolderInMemory } from './runner/temporary'
import { waitForDay } from './runner/midnight'
import { closeSharedStack } from './support/stack'

useFolderInMemory()

beforeEach(waitForDay)
afterAll(closeSharedStack)
